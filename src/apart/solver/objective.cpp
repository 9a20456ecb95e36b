#include <apart/solver/objective.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

namespace {

// Shares of a curved path. A piece is cut in four until it is free, unless it is short and has some room;
// then it ends the path.
constexpr double short_piece = 1.0 / 64, shortest_piece = 0x1p-20;
// Deviations from the chord that a piece may have, as a share of the path's length: beyond that the chord
// says little.
constexpr double largest_bow = 0.05;

}  // namespace

Objective::Objective(const LinearMap& map, const Chart& chart, std::vector<Term> terms)
    : map_(map), chart_(chart), terms_(std::move(terms)), assembly_(map_, terms_), reduced_(chart) {}

void Objective::set_free(FreeCoordinates free) {
  free_ = std::move(free);
  if (!chart_.is_identity()) reduced_.set_free(free_);
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
  Matrix3X g = map_.pull_back(on_vertices);
  for (const Term& t : terms_)
    if (t.points == PointKind::nodes && roles.contains(t.role)) t.potential->add_gradient(q_, g);
  return g;
}

VectorX Objective::acting() const {
  VectorX sum = VectorX::Zero(chart_.unknown_count());
  for (const Term& t : terms_) {
    if (t.points == PointKind::vertices && t.potential->term_count() == 0) continue;
    Matrix3X g = Matrix3X::Zero(3, points_of(t).cols());
    t.potential->add_gradient(points_of(t), g);
    if (t.points == PointKind::vertices) g = map_.pull_back(g);
    sum += chart_.pull_back(q_, g).colwise().norm().transpose();
  }
  return sum;
}

VectorX Objective::gradient_rounding() const {
  // A coordinate is off by half a unit in its last place; a few more are lost on the way to a force.
  constexpr double places = 64 * std::numeric_limits<double>::epsilon();
  VectorX result = VectorX::Zero(chart_.unknown_count());
  const double farthest = q_.cwiseAbs().maxCoeff();
  const BlockSparse& hessian = matrix();
  if (hessian.block_count() != free_.block_count()) return result;  // none since coordinates were held
  for (Index b = 0; b < hessian.block_count(); ++b) {
    double stiffness = 0;
    for (int axis = 0; axis < 3; ++axis)
      if (free_(axis, free_.node(b))) stiffness = std::max(stiffness, hessian.at(3 * b + axis, 3 * b + axis));
    result[free_.node(b)] = places * farthest * stiffness;
  }
  return result;
}

const BlockSparse& Objective::hessian(Projection projection, const Matrix3X& gradient) {
  if (chart_.is_identity()) return assembly_.assemble(free_, q_, x_, projection);
  const BlockSparse& h = assembly_.assemble(reduced_.nodes(), q_, x_, projection);
  return reduced_.reduce({q_, gradient, h, assembly_.take_pattern_change()}, projection);
}

bool Objective::take_pattern_change() {
  return chart_.is_identity() ? assembly_.take_pattern_change() : reduced_.take_pattern_change();
}

double Objective::feasible_step(const Path& nodes) const {
  Path vertices{map_.positions(nodes.start), map_.push_forward(nodes.move)};
  if (nodes.deviation.size() > 0) vertices.deviation = map_.bound(nodes.deviation);
  double alpha = 1;
  for (const Term& t : terms_)
    alpha = std::min(alpha, t.potential->feasible_step(t.points == PointKind::nodes ? nodes : vertices));
  return alpha;
}

StepBound Objective::feasible_step(const Matrix3X& q, const Matrix3X& y) const {
  if (chart_.is_identity()) return {feasible_step(Path{q, y})};
  StepBound result{0};
  for (double piece = 1; result.alpha < 1;) {
    piece = std::min(piece, 1 - result.alpha);
    const Matrix3X from = chart_.retract(q, result.alpha * y),
                   to = chart_.retract(q, (result.alpha + piece) * y);
    const Path path{from, to - from, chart_.deviation(q, piece * y)};
    const bool bowed = path.deviation.maxCoeff() >
                       std::min(largest_deviation(), largest_bow * path.move.cwiseAbs().maxCoeff());
    const double share = bowed ? 0 : feasible_step(path);
    if (share < 1 && (piece > short_piece || (share == 0 && piece > shortest_piece))) {
      piece /= 4;
      continue;
    }
    if (result.alpha > 0) result.corners.push_back(result.alpha);
    result.alpha = share < 1 ? result.alpha + share * piece : std::min(1.0, result.alpha + piece);
    if (share < 1) break;
    piece *= 4;
  }
  return result;
}

double Objective::largest_deviation() const {
  double largest = std::numeric_limits<double>::infinity();
  for (const Term& t : terms_) largest = std::min(largest, t.potential->largest_deviation());
  return largest;
}

}  // namespace apart
