#include <apart/potentials/rod_elasticity.hpp>

#include <apart/math/psd_projection.hpp>

#include <Eigen/Geometry>
#include <cmath>
#include <limits>
#include <numbers>

namespace apart {

namespace {

/// Two edges that meet, e₀ to the bent node and e₁ from it.
struct Bend {
  double length[2];
  Vector3 along[2];   ///< unit
  Vector3 across[2];  ///< unit, in the plane of both, to the side to which e₁ turns from e₀
  Vector3 normal;     ///< unit, of that plane
  double sine, half_tan;  ///< of the turning angle θ ∈ [0, π]: sin θ, tan(θ/2); the latter infinite if folded

  Bend(const Vector3& x0, const Vector3& x1, const Vector3& x2) {
    const Vector3 e[2] = {x1 - x0, x2 - x1};
    for (int k = 0; k < 2; ++k) {
      length[k] = e[k].norm();
      along[k] = e[k] / length[k];
    }
    normal = along[0].cross(along[1]);
    sine = normal.norm();
    const double cosine = along[0].dot(along[1]);
    // From the smaller of 1 ± cos θ the tangent would lose its digits.
    half_tan = cosine > 0 ? sine / (1 + cosine) : (1 - cosine) / sine;
    if (!(length[0] > 0 && length[1] > 0)) half_tan = std::numeric_limits<double>::infinity();
    // A straight rod bends to every side alike.
    if (sine > 1e-100)
      normal /= sine;
    else
      normal = along[0].unitOrthogonal();
    for (int k = 0; k < 2; ++k) across[k] = normal.cross(along[k]);
  }
  bool finite() const { return std::isfinite(half_tan) && half_tan < 1e50; }
};

/// g = (2 tan(θ/2) − k̄)² and its derivatives in θ.
struct Turning {
  double value, first, second;
  double first_over_sine;  ///< g′/sin θ; for k̄ = 0 finite also where θ = 0
};
Turning turning(double t, double rest) {
  const double square = 1 + t * t;  // 1/cos²(θ/2); d/dθ t = square/2, sin θ = 2t/square
  Turning g;
  g.value = (2 * t - rest) * (2 * t - rest);
  g.first = 2 * (2 * t - rest) * square;
  g.second = 2 * square * square + 2 * (2 * t - rest) * t * square;
  // Where the rod is straight but wants to be bent, the energy has a ridge: no side is better than another.
  g.first_over_sine = rest == 0 ? 2 * square * square : (t > 0 ? (2 * t - rest) * square * square / t : 0.0);
  if (rest > 0 && t == 0) g.first = 0;
  return g;
}

}  // namespace

void RodElasticity::add(const RodCells& cells, Index first_node, const OwnNodes& own) {
  for (Index e = 0; e < cells.segments.cols(); ++e) {
    if (!own.contains(cells.segments(0, e) + first_node)) continue;
    terms_.push_back({{cells.segments(0, e) + first_node, cells.segments(1, e) + first_node, -1},
                      cells.stretch_stiffness / cells.rest_length[e],
                      cells.rest_length[e]});
  }
  for (Index b = 0; b < cells.bends.cols(); ++b) {
    if (!own.contains(cells.bends(0, b) + first_node)) continue;
    terms_.push_back(
        {{cells.bends(0, b) + first_node, cells.bends(1, b) + first_node, cells.bends(2, b) + first_node},
         cells.bending_stiffness / cells.bend_length[b],
         cells.rest_curvature[b]});
  }
}

double RodElasticity::value(const Matrix3X& q) const {
  return scale() * ordered_sum(term_count(), [&](Index i) {
           const Term& term = terms_[i];
           if (!term.is_bend()) {
             const double stretch = (q.col(term.nodes[1]) - q.col(term.nodes[0])).norm() - term.rest;
             return 0.5 * term.stiffness * stretch * stretch;
           }
           const Bend bend(q.col(term.nodes[0]), q.col(term.nodes[1]), q.col(term.nodes[2]));
           if (!bend.finite()) return std::numeric_limits<double>::infinity();
           return term.stiffness * turning(bend.half_tan, term.rest).value;
         });
}

void RodElasticity::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  add_local_gradients(*this, gradient, [&](Index i, auto g) {
    const Term& term = terms_[i];
    const auto& n = term.nodes;
    if (!term.is_bend()) {
      const Vector3 d = q.col(n[1]) - q.col(n[0]);
      const double length = d.norm();
      if (length > 0) {
        const Vector3 force = scale() * term.stiffness * (1 - term.rest / length) * d;
        g.template segment<3>(0) = -force;
        g.template segment<3>(3) = force;
      }
      return;
    }
    const Bend bend(q.col(n[0]), q.col(n[1]), q.col(n[2]));
    if (bend.finite()) {
      // dθ = across₁·de₁/l₁ − across₀·de₀/l₀
      const double first = scale() * term.stiffness * turning(bend.half_tan, term.rest).first;
      const Vector3 g0 = -first / bend.length[0] * bend.across[0],
                    g1 = first / bend.length[1] * bend.across[1];
      g.template segment<3>(0) = -g0;
      g.template segment<3>(3) = g0 - g1;
      g.template segment<3>(6) = g1;
    }
  });
}

void RodElasticity::hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                             LocalHessians& out) const {
  for (Index t = begin; t < end; ++t) {
    const Term& term = terms_[t];
    const auto& n = term.nodes;
    if (!term.is_bend()) {
      auto segment = out.of<2>(t);
      const Vector3 d = q.col(n[1]) - q.col(n[0]);
      const double length = d.norm();
      // Across the segment the tension per length: negative under pressure.
      double across = length > 0 ? 1 - term.rest / length : 0;
      if (projection != Projection::none) across = std::max(across, 0.0);
      const Vector3 along = length > 0 ? Vector3(d / length) : Vector3::Zero();
      const Matrix3 block = scale() * term.stiffness *
                            (across * Matrix3::Identity() + (1 - across) * along * along.transpose());
      for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) segment.block<3, 3>(3 * a, 3 * b) = a == b ? block : Matrix3(-block);
      continue;
    }
    auto local = out.of<3>(t);
    local.setZero();
    const Bend bend(q.col(n[0]), q.col(n[1]), q.col(n[2]));
    if (!bend.finite()) continue;
    const Turning g = turning(bend.half_tan, term.rest);
    const double weight = scale() * term.stiffness;
    const double s0 = 1 / bend.length[0], s1 = 1 / bend.length[1];
    // In the plane, in the basis across₀, along₀, across₁, along₁ of (de₀, de₁): with polar angles
    // θ = φ₁ − φ₀ and ∇²φ = −(across alongᵀ + along acrossᵀ)/l².
    Eigen::Matrix4d plane = Eigen::Matrix4d::Zero();
    plane(0, 0) = g.second * s0 * s0;
    plane(2, 2) = g.second * s1 * s1;
    plane(0, 2) = plane(2, 0) = -g.second * s0 * s1;
    plane(0, 1) = plane(1, 0) = g.first * s0 * s0;
    plane(2, 3) = plane(3, 2) = -g.first * s1 * s1;
    // Out of the plane, of tilts a₀, a₁: δθ = ½ cot θ (a₀² + a₁²) − a₀a₁/sin θ, whose eigenvectors are (1,
    // ∓1) with values g′ (cos θ ± 1)/sin θ.
    const double t2 = bend.half_tan * bend.half_tan;
    double apart = g.first_over_sine * 2 / (1 + t2), together = -g.first_over_sine * 2 * t2 / (1 + t2);
    if (projection != Projection::none) {
      plane = psd_projection(plane);
      apart = std::max(apart, 0.0);
      together = std::max(together, 0.0);
    }
    const double same = 0.5 * (apart + together), mixed = 0.5 * (together - apart);
    const Matrix3 out_of_plane = bend.normal * bend.normal.transpose();
    Eigen::Matrix<double, 3, 2> frame[2];
    for (int k = 0; k < 2; ++k) frame[k] << bend.across[k], bend.along[k];
    Matrix3 h[2][2];
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b)
        h[a][b] = weight * (frame[a] * plane.block<2, 2>(2 * a, 2 * b) * frame[b].transpose() +
                            (a == b ? same : mixed) * (a ? s1 : s0) * (b ? s1 : s0) * out_of_plane);
    // e₀ = x₁ − x₀, e₁ = x₂ − x₁
    constexpr double sign[3][2] = {{-1, 0}, {1, -1}, {0, 1}};
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k)
        for (int a = 0; a < 2; ++a)
          for (int b = 0; b < 2; ++b)
            if (sign[i][a] * sign[k][b] != 0)
              local.block<3, 3>(3 * i, 3 * k) += sign[i][a] * sign[k][b] * h[a][b];
  }
}

Strains RodElasticity::largest_strains(const Matrix3X& q) const {
  const auto elongation = [&](Index i) {
    const Term& term = terms_[std::size_t(i)];
    return term.is_bend() ? 0.0 : (q.col(term.nodes[1]) - q.col(term.nodes[0])).norm() / term.rest - 1;
  };
  return {parallel_max(term_count(), 0.0, elongation), -parallel_min(term_count(), 0.0, elongation)};
}

std::vector<WorstElement> RodElasticity::worst_elements(const Matrix3X& q) const {
  WorstElement segment{"Most strained segment", -1, -1, {}}, bend{"Sharpest bend", -1, -1, {}};
  for (Index i = 0; i < term_count(); ++i) {
    const Term& term = terms_[std::size_t(i)];
    const auto& [a, b, c] = term.nodes;
    WorstElement& worst = term.is_bend() ? bend : segment;
    const double stretch = (q.col(b) - q.col(a)).norm() / term.rest;
    const double measure =
        term.is_bend() ? 2 * std::atan(Bend(q.col(a), q.col(b), q.col(c)).half_tan) : std::abs(stretch - 1);
    if (!(measure > worst.measure)) continue;
    worst.element = i;
    worst.measure = measure;
    if (term.is_bend())
      worst.node = b;
    else
      worst.state = fmt::format("stretched by {:.6g}", stretch);
  }
  std::vector<WorstElement> result;
  if (segment.element >= 0) result.push_back(segment);
  if (bend.element < 0) return result;
  bend.state = fmt::format("by {:.4g} degrees", bend.measure * (180 / std::numbers::pi));
  result.push_back(bend);
  return result;
}

}  // namespace apart
