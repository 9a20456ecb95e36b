#include <apart/solver/objective.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

Objective::Objective(const CoordinateMap& map, std::vector<Term> terms)
    : map_(map), terms_(std::move(terms)), assembly_(map_, terms_) {}

void Objective::set_free(FreeCoordinates free) {
  free_ = std::move(free);
  assembly_.restart();
}

void Objective::prepare(const Matrix3X& q) {
  q_ = q;
  x_ = map_.positions(q);
  for (const Term& t : terms_) t.potential->prepare(points_of(t));
}

double Objective::value(Roles roles) const {
  double sum = 0;
  for (const Term& t : terms_)
    if (roles.contains(t.role)) sum += t.potential->value(points_of(t));
  return sum;
}

std::vector<std::pair<std::string_view, double>> Objective::values() const {
  std::vector<std::pair<std::string_view, double>> result;
  for (const Term& t : terms_) result.emplace_back(t.potential->name(), t.potential->value(points_of(t)));
  return result;
}

double Objective::magnitude() const {
  double sum = 0;
  for (const Term& t : terms_) sum += std::abs(t.potential->value(points_of(t)));
  return sum;
}

Matrix3X Objective::gradient(Roles roles) const {
  Matrix3X on_vertices = Matrix3X::Zero(3, x_.cols());
  for (const Term& t : terms_)
    if (t.points == PointKind::vertices && roles.contains(t.role)) t.potential->add_gradient(x_, on_vertices);
  Matrix3X g = map_.pull_back(q_, on_vertices);
  for (const Term& t : terms_)
    if (t.points == PointKind::nodes && roles.contains(t.role)) t.potential->add_gradient(q_, g);
  return g;
}

VectorX Objective::acting() const {
  VectorX sum = VectorX::Zero(q_.cols());
  for (const Term& t : terms_) {
    if (t.points == PointKind::vertices && t.potential->term_count() == 0) continue;
    Matrix3X g = Matrix3X::Zero(3, points_of(t).cols());
    t.potential->add_gradient(points_of(t), g);
    if (t.points == PointKind::vertices) g = map_.pull_back(q_, g);
    sum += g.colwise().norm().transpose();
  }
  return sum;
}

VectorX Objective::gradient_rounding() const {
  // A coordinate is off by half a unit in its last place; a few more are lost on the way to a force.
  constexpr double places = 64 * std::numeric_limits<double>::epsilon();
  VectorX result = VectorX::Zero(q_.cols());
  const double farthest = q_.cwiseAbs().maxCoeff();
  const BlockSparse& hessian = assembly_.matrix();
  if (hessian.block_count() != free_.block_count()) return result;  // none since coordinates were held
  for (Index b = 0; b < hessian.block_count(); ++b) {
    double stiffness = 0;
    for (int axis = 0; axis < 3; ++axis)
      if (free_(axis, free_.node(b))) stiffness = std::max(stiffness, hessian.at(3 * b + axis, 3 * b + axis));
    result[free_.node(b)] = places * farthest * stiffness;
  }
  return result;
}

const BlockSparse& Objective::hessian(Projection projection) {
  return assembly_.assemble(free_, q_, x_, projection);
}

double Objective::feasible_step(const Matrix3X& q, const Matrix3X& p) const {
  const Path on_nodes{q, p}, on_vertices{map_.positions(q), map_.push_forward(q, p)};
  double alpha = 1;
  for (const Term& t : terms_)
    alpha =
        std::min(alpha, t.potential->feasible_step(t.points == PointKind::nodes ? on_nodes : on_vertices));
  return alpha;
}

}  // namespace apart
