#include <apart/potentials/surface_pressure.hpp>

#include <apart/math/psd_projection.hpp>

#include <Eigen/Geometry>
#include <map>

namespace apart {

namespace {

/// The matrix of v ↦ a × v.
Matrix3 cross_matrix(const Vector3& a) {
  Matrix3 m;
  m << 0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0;
  return m;
}

}  // namespace

void SurfacePressure::set(double scale, std::vector<Patch> patches, const Matrix3X& start) {
  terms_.clear();
  rim_.clear();
  for (const Patch& patch : patches) {
    if (patch.pressure != 0 && patch.segments.cols() > 0) add_segments(scale, patch, start);
    if (patch.pressure == 0 || patch.faces.cols() == 0) continue;
    Vector3 apex = Vector3::Zero();
    for (Index k = 0; k < patch.faces.size(); ++k) apex += start.col(patch.faces(k));
    apex /= double(patch.faces.size());
    const double strength = scale * patch.pressure;
    // Gradient of the cone minus the pressure proper, a third of each triangle's area vector at each corner.
    // Inside the patch the difference cancels but for rounding; edges of one triangle only are its rim.
    std::map<std::pair<int, int>, int>
        count;  // edge, smaller vertex first → times passed upwards minus downwards
    for (Index f = 0; f < patch.faces.cols(); ++f) {
      const auto v = patch.faces.col(f);
      terms_.push_back({{{v[0], v[1], v[2], -1}, 3}, strength, apex});
      for (int k = 0; k < 3; ++k) {
        const int a = v[k], b = v[(k + 1) % 3];
        count[std::minmax(a, b)] += a < b ? 1 : -1;
      }
    }
    for (const auto& [edge, times] : count) {
      if (times == 0) continue;
      // With y = x − apex a triangle gives corner 0 y₁×y₂/6, the pressure proper (y₁−y₀)×(y₂−y₀)/6. The
      // difference, (y₀×y₂ − y₀×y₁)/6, telescopes around the corner and leaves ±y_a×y_b/6 at both ends of
      // each rim edge (a, b).
      const Vector3 ya = start.col(edge.first) - apex, yb = start.col(edge.second) - apex;
      const Vector3 excess = times * strength / 6 * ya.cross(yb);
      rim_.push_back({edge.first, -excess, start.col(edge.first)});
      rim_.push_back({edge.second, -excess, start.col(edge.second)});
    }
  }
}

void SurfacePressure::add_segments(double scale, const Patch& patch, const Matrix3X& start) {
  Vector3 apex = Vector3::Zero();
  for (const int v : patch.segments.reshaped()) apex += start.col(v);
  apex /= double(patch.segments.size());
  const double strength = scale * patch.pressure * patch.depth;
  std::map<int, int> count;  // vertex → segments that begin there minus those that end
  for (const auto& s : patch.segments.colwise()) {
    terms_.push_back({{{s[0], s[1], -1, -1}, 2}, strength, apex});
    ++count[s[0]];
    --count[s[1]];
  }
  for (const auto& [v, times] : count) {
    if (times == 0) continue;
    // With y = x − apex a segment gives its first end y₁ × e_z/2, the pressure proper (y₁ − y₀) × e_z/2, and
    // its second −y₀ × e_z/2 instead of the same: what is left at the ends of a chain is ±y × e_z/2.
    const Vector3 y = start.col(v) - apex;
    rim_.push_back({v, -0.5 * times * strength * Vector3(-y[1], y[0], 0), start.col(v)});
  }
}

double SurfacePressure::value(const Matrix3X& x) const {
  double sum = ordered_sum(term_count(), [&](Index i) {
    const Term& t = terms_[i];
    const Vector3 a = x.col(t.points.ids[0]) - t.apex, b = x.col(t.points.ids[1]) - t.apex;
    if (t.points.size == 2) return t.strength / 2 * (a[0] * b[1] - a[1] * b[0]);
    const Vector3 c = x.col(t.points.ids[2]) - t.apex;
    return t.strength / 6 * a.dot(b.cross(c));
  });
  for (const Rim& r : rim_) sum -= r.excess.dot(x.col(r.vertex) - r.origin);
  return sum;
}

void SurfacePressure::add_gradient(const Matrix3X& x, Matrix3X& gradient) const {
  add_local_gradients(*this, gradient, [&](Index i, auto g) {
    const Term& t = terms_[i];
    if (t.points.size == 2) {
      const Vector3 a = x.col(t.points.ids[0]) - t.apex, b = x.col(t.points.ids[1]) - t.apex;
      g << t.strength / 2 * Vector3(b[1], -b[0], 0), t.strength / 2 * Vector3(-a[1], a[0], 0);
      return;
    }
    for (int k = 0; k < 3; ++k)
      g.template segment<3>(3 * k) =
          t.strength / 6 *
          (x.col(t.points.ids[(k + 1) % 3]) - t.apex).cross(x.col(t.points.ids[(k + 2) % 3]) - t.apex);
  });
  for (const Rim& r : rim_) gradient.col(r.vertex) -= r.excess;
}

void SurfacePressure::hessians(const Matrix3X& x, Index begin, Index end, Projection projection,
                               LocalHessians& out) const {
  for (Index i = begin; i < end; ++i) {
    const Term& t = terms_[i];
    if (t.points.size == 2) {
      auto h = out.of<2>(i);
      h.setZero();
      // Eigenvalues ±strength/2 of the pairs (x₀, y₁) and (y₀, x₁); of each the positive one is left.
      const bool whole = projection == Projection::none;
      h(0, 4) = h(4, 0) = t.strength / (whole ? 2 : 4);
      h(1, 3) = h(3, 1) = -t.strength / (whole ? 2 : 4);
      for (const int k : {0, 1, 3, 4}) h(k, k) = whole ? 0 : std::abs(t.strength) / 4;
      continue;
    }
    auto h = out.of<3>(i);
    h.setZero();
    for (int k = 0; k < 3; ++k) {
      // ∂/∂y_{k+1} of y_{k+1} × y_{k+2} = −[y_{k+2}]ₓ
      const Matrix3 m = t.strength / 6 * cross_matrix(x.col(t.points.ids[(k + 2) % 3]) - t.apex);
      h.block<3, 3>(3 * k, 3 * ((k + 1) % 3)) = -m;
      h.block<3, 3>(3 * ((k + 1) % 3), 3 * k) = m;
    }
    if (projection != Projection::none) h = psd_projection(Eigen::Matrix<double, 9, 9>(h));
  }
}

}  // namespace apart
