#include <apart/core/error.hpp>
#include <apart/potentials/membrane_elasticity.hpp>

#include <cmath>

namespace apart {

namespace {

using Matrix32 = Eigen::Matrix<double, 3, 2>;

// C-IPC 4.1
constexpr double crowded_gap = 1e-4;
constexpr double largest_stiffness = 1e5;  // [Pa]
// Share of the distance to a limit that a step may use up.
constexpr double usable_room = 0.9;

Matrix32 gradient_of(const std::array<Index, 3>& nodes, const Eigen::Matrix<double, 2, 3>& shape_gradients,
                     const Matrix3X& q) {
  // Differences first: far from the origin the sum over all three nodes would lose digits.
  const Vector3 q0 = q.col(nodes[0]);
  Matrix32 f = (q.col(nodes[1]) - q0) * shape_gradients.col(1).transpose();
  f.noalias() += (q.col(nodes[2]) - q0) * shape_gradients.col(2).transpose();
  return f;
}

/// Larger and smaller singular value.
Vector2 stretches_of(const Matrix32& f) {
  const double a = f.col(0).squaredNorm(), c = f.col(1).squaredNorm(), b = f.col(0).dot(f.col(1));
  const double mean = 0.5 * (a + c), radius = std::hypot(0.5 * (a - c), b);
  return {std::sqrt(mean + radius), std::sqrt(std::max(mean - radius, 0.0))};
}

/// First time in (0, 1] at which c₀ + c₁t + c₂t² leaves [low, high], in which it begins; 1 if later.
double time_inside(double c0, double c1, double c2, double low, double high) {
  double first = 1;
  for (const double bound : {low, high}) {
    // c₂t² + c₁t + (c₀ − bound) = 0, without cancellation
    const double c = c0 - bound, discriminant = c1 * c1 - 4 * c2 * c;
    if (discriminant < 0) continue;
    const double s = -0.5 * (c1 + std::copysign(std::sqrt(discriminant), c1));
    for (const double t : {s == 0 ? -1.0 : c / s, c2 == 0 ? -1.0 : s / c2})
      if (t > 0 && t < first) first = t;
  }
  return first;
}

}  // namespace

void MembraneElasticity::add(const ShellCells& cells, Index first_node, const OwnNodes& own) {
  parts_.push_back({cells.membrane, cells.limit, cells.limit ? cells.limit->stiffness : 0});
  has_limits_ = has_limits_ || cells.limit || strain_limit_of(cells.membrane);
  for (Index t = 0; t < cells.nodes.cols(); ++t) {
    if (!own.contains(cells.nodes(0, t) + first_node)) continue;
    Triangle triangle;
    for (int a = 0; a < 3; ++a) triangle.nodes[std::size_t(a)] = cells.nodes(a, t) + first_node;
    triangle.part = Index(parts_.size()) - 1;
    triangle.volume = cells.volume[t];
    // F = D · inverse_rest with D = [q₁−q₀, q₂−q₀]: ∇N_{k+1} is row k of inverse_rest.
    triangle.shape_gradients.rightCols<2>() = cells.inverse_rest[std::size_t(t)].transpose();
    triangle.shape_gradients.col(0) = -triangle.shape_gradients.rightCols<2>().rowwise().sum();
    triangles_.push_back(triangle);
  }
  crowded_.assign(triangles_.size(), 0);
  forget();
}

void MembraneElasticity::prepare_at(const Matrix3X& q) {
  svd_.resize(triangles_.size());
  parallel_for(term_count(), [&](Index i) {
    const Triangle& t = triangles_[std::size_t(i)];
    svd_[std::size_t(i)] = thin_svd(gradient_of(t.nodes, t.shape_gradients, q));
  });
}

double MembraneElasticity::value(const Matrix3X& q) const {
  expect_at(q);
  return scale() * ordered_sum(term_count(), [&](Index i) {
           const Triangle& t = triangles_[std::size_t(i)];
           const Part& part = part_of(t);
           return t.volume *
                  membrane_energy(part.membrane, part.limit_or_null(), part.stiffness, svd_[std::size_t(i)]);
         });
}

void MembraneElasticity::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  expect_at(q);
  add_local_gradients(*this, gradient, [&](Index i, auto result) {
    const Triangle& t = triangles_[std::size_t(i)];
    const Part& part = part_of(t);
    const ThinSvd& f = svd_[std::size_t(i)];
    const Matrix2 stress =
        scale() * t.volume * membrane_stress(part.membrane, part.limit_or_null(), part.stiffness, f);
    const Eigen::Matrix<double, 3, 3> g =
        f.u.leftCols<2>() * (stress * (f.v.transpose() * t.shape_gradients));
    for (int a = 0; a < 3; ++a) result.template segment<3>(3 * a) = g.col(a);
  });
}

void MembraneElasticity::hessians(const Matrix3X&, Index begin, Index end, Projection projection,
                                  LocalHessians& out) const {
  for (Index e = begin; e < end; ++e) {
    const Triangle& t = triangles_[std::size_t(e)];
    const Part& part = part_of(t);
    const ThinSvd& f = svd_[std::size_t(e)];
    auto h = out.of<3>(e);
    const MembraneTangent tangent = membrane_tangent(part.membrane, part.limit_or_null(), part.stiffness, f,
                                                     projection != Projection::none);
    const double weight = scale() * t.volume;
    const Eigen::Matrix<double, 2, 3> b = f.v.transpose() * t.shape_gradients;
    for (int a = 0; a < 3; ++a)
      for (int a2 = 0; a2 <= a; ++a2) {
        Matrix3 k = Matrix3::Zero();
        for (int i = 0; i < 2; ++i)
          for (int j = 0; j < 2; ++j)
            k(i, j) = b.col(a).dot(tangent.in_plane.block<2, 2>(2 * i, 2 * j) * b.col(a2));
        k(2, 2) = b.col(a).dot(tangent.tilt * b.col(a2));
        const Matrix3 block = f.u * (weight * k) * f.u.transpose();
        h.block<3, 3>(3 * a, 3 * a2) = block;
        if (a != a2) h.block<3, 3>(3 * a2, 3 * a) = block.transpose();
      }
  }
}

double MembraneElasticity::feasible_step(const Triangle& t, const Matrix3X& q, const Matrix3X& p) const {
  const Part& part = part_of(t);
  const auto own = strain_limit_of(part.membrane);
  if (!part.limit && !own) return 1;
  const Matrix32 f = gradient_of(t.nodes, t.shape_gradients, q),
                 d = gradient_of(t.nodes, t.shape_gradients, p);
  double alpha = 1;
  if (own) {
    // Each strain is a quadratic in α: E_ab = ½((f_a + αd_a)·(f_b + αd_b) − δ_ab).
    for (int k = 0; k < 3; ++k) {
      const int a = k == 1 ? 1 : 0, b = k == 0 ? 0 : 1;
      const double c0 = 0.5 * (f.col(a).dot(f.col(b)) - (a == b ? 1 : 0));
      const double c1 = 0.5 * (f.col(a).dot(d.col(b)) + f.col(b).dot(d.col(a)));
      const double c2 = 0.5 * d.col(a).dot(d.col(b));
      alpha = std::min(alpha, time_inside(c0, c1, c2, c0 - usable_room * (c0 + (*own)[k]),
                                          c0 + usable_room * ((*own)[k] - c0)));
    }
  }
  if (part.limit) {
    const StretchLimit& limit = *part.limit;
    const Vector2 start = stretches_of(f);
    // The largest stretch, a norm of a linear function, is convex along the way: it passes the bound at most
    // once, and bisection finds where.
    const double most = start[0] + usable_room * (limit.upper - start[0]);
    const auto fits = [&](double at) { return stretches_of(f + at * d)[0] <= most; };
    if (!fits(alpha)) {
      double low = 0, high = alpha;
      while (high - low > 1e-3 * high && high > 1e-300) {
        const double middle = 0.5 * (low + high);
        (fits(middle) ? low : high) = middle;
      }
      alpha = low;
    }
    if (limit.lower > 0) {
      const double least = start[1] - usable_room * (start[1] - limit.lower);
      while (alpha > 1e-300 && stretches_of(f + alpha * d)[1] < least) alpha *= 0.5;
    }
  }
  return alpha;
}

StepBound MembraneElasticity::feasible_step(const Path& path) const {
  if (!has_limits_) return {1};
  for (const Triangle& t : triangles_)
    for (const Index node : t.nodes)
      ensure(path.is_straight(node), "MembraneElasticity: nodes of triangles move straight");
  return {parallel_min(term_count(), 1.0, [&](Index i) {
    return feasible_step(triangles_[std::size_t(i)], path.start, path.move);
  })};
}

VectorX MembraneElasticity::limit_stiffness() const {
  VectorX result(Index(parts_.size()));
  for (std::size_t b = 0; b < parts_.size(); ++b) result[Index(b)] = parts_[b].stiffness;
  return result;
}

void MembraneElasticity::set_limit_stiffness(const VectorX& stiffness) {
  ensure(stiffness.size() == Index(parts_.size()), "MembraneElasticity: one stiffness for each body");
  for (std::size_t b = 0; b < parts_.size(); ++b) parts_[b].stiffness = stiffness[Index(b)];
}

void MembraneElasticity::reset_stiffness() {
  for (Part& p : parts_) p.stiffness = p.limit ? p.limit->stiffness : 0;
  crowded_.assign(triangles_.size(), 0);
}

bool MembraneElasticity::adapt_stiffness(const Matrix3X& q, const Team& team) {
  if (!has_limits_) return false;
  expect_at(q);
  std::vector<double> raise(parts_.size(), 0);  // 1: yes
  for (std::size_t i = 0; i < triangles_.size(); ++i) {
    const Part& part = part_of(triangles_[i]);
    if (!part.limit) continue;
    const bool crowded = part.limit->gap(svd_[i].sigma) < crowded_gap;
    if (crowded && crowded_[i]) raise[std::size_t(triangles_[i].part)] = 1;
    crowded_[i] = crowded;
  }
  team.max(raise);
  bool changed = false;
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    Part& part = parts_[b];
    if (raise[b] == 0 || part.stiffness >= largest_stiffness) continue;
    part.stiffness = std::min(2 * part.stiffness, largest_stiffness);
    changed = true;
  }
  return changed;
}

double MembraneElasticity::von_mises(Index triangle) const {
  const Triangle& t = triangles_[std::size_t(triangle)];
  const Part& part = part_of(t);
  const ThinSvd& f = svd_[std::size_t(triangle)];
  const double area = f.sigma.prod();
  if (!(area > 0)) return 0;
  // P Fᵀ / J in the frame of u; the thickness stays what it is.
  const Matrix2 s =
      membrane_stress(part.membrane, part.limit_or_null(), part.stiffness, f) * f.sigma.asDiagonal() / area;
  return std::sqrt(
      std::max(0.0, s(0, 0) * s(0, 0) - s(0, 0) * s(1, 1) + s(1, 1) * s(1, 1) + 3 * s(0, 1) * s(0, 1)));
}

Strains MembraneElasticity::largest_strains(const Matrix3X& q) const {
  expect_at(q);
  return {parallel_max(term_count(), 0.0, [&](Index t) { return stretches(t).maxCoeff() - 1; }),
          parallel_max(term_count(), 0.0, [&](Index t) { return 1 - stretches(t).minCoeff(); })};
}

std::vector<WorstElement> MembraneElasticity::worst_elements(const Matrix3X& q) const {
  expect_at(q);
  WorstElement worst{"Most strained triangle", -1, -1, {}};
  for (Index t = 0; t < term_count(); ++t)
    if (const double strain = (stretches(t).array() - 1).abs().maxCoeff(); strain > worst.measure) {
      worst.measure = strain;
      worst.element = t;
    }
  if (worst.element < 0) return {};
  const Part& part = part_of(triangles_[std::size_t(worst.element)]);
  const auto woven = strain_limit_of(part.membrane);
  const Vector2& s = stretches(worst.element);
  worst.state = fmt::format("stretched by {:.6g} and {:.6g}", s[0], s[1]);
  if (part.limit)
    worst.state += fmt::format(" (limit {:.6g})", part.limit->upper);
  else if (woven)
    worst.state +=
        fmt::format(" (limits of strain {:.4g}, {:.4g}, {:.4g})", (*woven)[0], (*woven)[1], (*woven)[2]);
  return {worst};
}

ElasticPotential::Deformed MembraneElasticity::deformed(Index triangle) const {
  return {von_mises(triangle), (stretches(triangle).array() - 1).abs().maxCoeff()};
}

}  // namespace apart
