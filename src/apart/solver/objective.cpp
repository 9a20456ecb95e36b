#include <apart/solver/objective.hpp>

#include <apart/bodies/chart_curve.hpp>
#include <apart/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace apart {

namespace {

// [rad] A path that turns farther is cut: in the room that its chord needs beside it, an eighth of the square
// of this times the size of what turns, pairs would be found that are far from each other.
constexpr double longest_turn = 0.5;
// Rounding of vertices that follow from unknowns by a chart, in the sizes of their coordinates.
constexpr double chart_rounding = 64 * std::numeric_limits<double>::epsilon();

}  // namespace

Objective::Objective(const LinearMap& map, const Chart& chart, std::vector<Term> terms, const Team& team)
    : map_(map),
      chart_(chart),
      terms_(std::move(terms)),
      team_(team),
      assembly_(map_, chart_, terms_, team_) {
  std::vector<double> used;
  for (const Term& t : terms_) {
    ensure(!t.is_divided || (t.points == PointKind::nodes && !t.potential->terms_vary()),
           "Objective: a divided potential is of nodes and keeps its terms");
    used.push_back(t.is_divided && t.potential->term_count() > 0);
  }
  team_.max(used);
  for (const double u : used) shared_out_.push_back(u > 0);
  if (chart_.is_identity()) return;
  const VectorX weights = map_.bound(VectorX::Ones(map_.node_count()));
  for (Index v = 0; v < map_.vertex_count(); ++v)
    if (chart_.part_of(map_.influences(v)[0].node)) {
      curved_.push_back(v);
      largest_weight_ = std::max(largest_weight_, weights[v]);
    }
}

void Objective::set_free(FreeCoordinates free) {
  free_ = std::move(free);
  assembly_.restart();
}

Gradient::Gradient(const Objective& objective)
    : of_nodes_(objective.gradient()),
      of_unknowns_(objective.chart().pull_back(objective.coordinates(), of_nodes_)),
      of_free_(objective.free().restrict_to_free(of_unknowns_)),
      preparations_(objective.preparations()) {}

void Objective::expect(const Gradient& gradient) const {
  ensure(gradient.preparations_ == preparations_, "Objective: a gradient from before it was prepared");
}

void Objective::prepare(const Matrix3X& q) {
  ++preparations_;
  const bool known =
      q.cols() == q_.cols() && std::memcmp(q.data(), q_.data(), std::size_t(q.size()) * sizeof(double)) == 0;
  if (!known) {
    q_ = q;
    x_ = map_.positions(q);
  }
  for (const Term& t : terms_) t.potential->prepare(points_of(t));
}

bool Objective::any_shared_out(Roles roles) const {
  for (std::size_t i = 0; i < terms_.size(); ++i)
    if (shared_out_[i] && roles.contains(terms_[i].role)) return true;
  return false;
}

/// Whether each process adds up a part of the terms of a potential that all of them have.
bool Objective::is_summed_in_parts(const Term& t) const {
  return !team_.is_alone() && t.potential->has_parts() && t.potential->term_count() >= few_terms;
}

/// Of each potential; zero where it has another role.
std::vector<double> Objective::values_of(Roles roles) const {
  std::vector<double> values, divided;
  values.reserve(terms_.size());
  std::vector<std::size_t> at;  // of the divided ones
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const Term& t = terms_[i];
    if (!roles.contains(t.role)) {
      values.push_back(0);
      continue;
    }
    const bool in_parts = is_summed_in_parts(t);
    if (in_parts) {
      const auto [begin, end] = team_.share(t.potential->term_count());
      values.push_back(t.potential->value_of(points_of(t), begin, end));
    } else {
      values.push_back(t.potential->value(points_of(t)));
    }
    if (!in_parts && !shared_out_[i]) continue;
    divided.push_back(values.back());
    at.push_back(i);
  }
  if (divided.empty()) return values;
  team_.sum(divided);
  for (std::size_t k = 0; k < at.size(); ++k) values[at[k]] = divided[k];
  return values;
}

double Objective::value(Roles roles) const {
  double sum = 0;
  for (const double value : values_of(roles)) sum += value;
  return sum;
}

std::vector<std::pair<std::string_view, double>> Objective::values() const {
  const std::vector<double> values = values_of(Roles::all());
  std::vector<std::pair<std::string_view, double>> result;
  for (std::size_t i = 0; i < terms_.size(); ++i) result.emplace_back(terms_[i].potential->name(), values[i]);
  return result;
}

Objective::Energy Objective::energy() const {
  Energy sum;
  for (const double value : values_of(Roles::all())) {
    sum.value += value;
    sum.magnitude += std::abs(value);
  }
  return sum;
}

Matrix3X Objective::gradient(Roles roles) const {
  const bool apart = !team_.is_alone();  // what is divided is summed by itself
  const auto is_apart = [&](const Term& t) { return apart && (t.is_divided || is_summed_in_parts(t)); };
  const auto acts_on_vertices = [&](const Term& t) {
    return t.points == PointKind::vertices && roles.contains(t.role) && t.potential->term_count() > 0 &&
           !is_apart(t);
  };
  Matrix3X g = Matrix3X::Zero(3, q_.cols()), on_vertices;
  if (std::ranges::any_of(terms_, acts_on_vertices)) {
    on_vertices.setZero(3, x_.cols());
    for (const Term& t : terms_)
      if (acts_on_vertices(t)) t.potential->add_gradient(x_, on_vertices);
    g = map_.pull_back(on_vertices);
  }
  for (const Term& t : terms_)
    if (t.points == PointKind::nodes && roles.contains(t.role) && !is_apart(t))
      t.potential->add_gradient(q_, g);
  if (!apart) return g;

  bool in_parts = false;
  on_vertices.setZero(3, x_.cols());
  for (const Term& t : terms_) {
    if (!is_summed_in_parts(t) || !roles.contains(t.role)) continue;
    ensure(t.points == PointKind::vertices, "Objective: what is summed in parts is of vertices");
    const auto [begin, end] = team_.share(t.potential->term_count());
    t.potential->add_gradient_of(x_, begin, end, on_vertices);
    in_parts = true;
  }
  if (!in_parts && !any_shared_out(roles)) return g;
  Matrix3X divided = in_parts ? map_.pull_back(on_vertices) : Matrix3X::Zero(3, g.cols());
  for (const Term& t : terms_)
    if (t.is_divided && roles.contains(t.role)) t.potential->add_gradient(q_, divided);
  team_.sum(divided);
  return g + divided;
}

VectorX Objective::acting() const {
  VectorX sum = VectorX::Zero(chart_.unknown_count());
  Matrix3X on_nodes, on_vertices;
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const Term& t = terms_[i];
    const bool of_vertices = t.points == PointKind::vertices;
    if (of_vertices && t.potential->term_count() == 0) continue;
    Matrix3X& g = of_vertices ? on_vertices : on_nodes;
    g.setZero(3, points_of(t).cols());
    t.potential->add_gradient(points_of(t), g);
    if (shared_out_[i]) team_.sum(g);
    if (g.cwiseAbs().maxCoeff() == 0) continue;
    sum += chart_.pull_back(q_, of_vertices ? map_.pull_back(g) : g).colwise().norm().transpose();
  }
  return sum;
}

VectorX Objective::gradient_rounding() const {
  // A coordinate is off by half a unit in its last place; a few more are lost on the way to a force.
  constexpr double places = 64 * std::numeric_limits<double>::epsilon();
  VectorX result = VectorX::Zero(chart_.unknown_count());
  const double farthest = q_.cwiseAbs().maxCoeff();
  if (!assembly_.matrix()) return result;  // none since coordinates were held
  const BlockSparse& hessian = *assembly_.matrix();
  Matrix3X diagonal(3, hessian.block_count());
  for (Index k = 0; k < diagonal.size(); ++k) diagonal.reshaped()[k] = hessian.at(k, k);
  team_.sum(diagonal);
  for (Index b = 0; b < hessian.block_count(); ++b) {
    double stiffness = 0;
    for (int axis = 0; axis < 3; ++axis)
      if (free_(axis, free_.node(b))) stiffness = std::max(stiffness, diagonal(axis, b));
    result[free_.node(b)] = places * farthest * stiffness;
  }
  return result;
}

const BlockSparse& Objective::assemble(Projection projection, const Matrix3X& gradient) {
  for (const Term& t : terms_)
    ensure(t.potential->is_at(points_of(t)), "Objective: a term has been prepared elsewhere");
  return assembly_.assemble(free_, {q_, x_, gradient}, projection);
}

void Objective::begin_solve() {
  for (const Term& t : terms_) t.potential->begin_solve();
}

void Objective::follow(const Matrix3X& y) {
  const Matrix3X of_nodes = chart_.push_forward(q_, y), of_vertices = map_.push_forward(of_nodes);
  for (const Term& t : terms_)
    t.potential->follow(points_of(t), t.points == PointKind::nodes ? of_nodes : of_vertices);
}

double Objective::mismatch() const {
  double most = 0;
  for (const Term& t : terms_) most = std::max(most, t.potential->mismatch(points_of(t)));
  return most;
}

StepBound Objective::feasible_step(const Path& nodes, const Path& vertices) const {
  StepBound result;
  for (const Term& t : terms_) {
    const StepBound bound = t.potential->feasible_step(t.points == PointKind::nodes ? nodes : vertices);
    result.alpha = std::min(result.alpha, bound.alpha);
    result.corners.insert(result.corners.end(), bound.corners.begin(), bound.corners.end());
  }
  if (!team_.is_alone()) {
    result.alpha = team_.min(result.alpha);
    result.corners = team_.joined(std::span<const double>(result.corners));
  }
  std::sort(result.corners.begin(), result.corners.end());
  std::erase_if(result.corners, [&](double corner) { return corner >= result.alpha; });
  return result;
}

double Objective::feasible_step(const Path& nodes) const {
  ensure(nodes.is_straight(), "Objective: curved paths are those of unknowns");
  return feasible_step(nodes, Path{map_.positions(nodes.start), map_.push_forward(nodes.move)}).alpha;
}

StepBound Objective::feasible_piece(const Matrix3X& q, const Matrix3X& y, double begin, double end) const {
  const double length = end - begin;
  const Matrix3X from = begin == 0 ? q : chart_.retract(q, begin * y), to = chart_.retract(q, end * y);
  const Matrix3X bend = length * length * chart_.bend(q, y);
  const ChartCurve curve({chart_, map_, q, y}, begin, end);
  Path nodes{from, to - from, bend.colwise().norm().transpose()};
  const bool known = from.cols() == q_.cols() && from == q_;
  Path vertices{known ? x_ : map_.positions(from), map_.push_forward(nodes.move),
                map_.push_forward(bend).colwise().norm().transpose()};
  // Also those that do not turn are where they are only up to rounding.
  for (const Index v : curved_) vertices.bend[v] += std::numeric_limits<double>::min();
  vertices.rounding =
      chart_rounding * largest_weight_ * (from.cwiseAbs().maxCoeff() + to.cwiseAbs().maxCoeff());
  vertices.curve = &curve;
  return feasible_step(nodes, vertices);
}

StepBound Objective::feasible_step(const Matrix3X& q, const Matrix3X& y) const {
  if (chart_.is_identity()) return {feasible_step(Path{q, y})};
  const double turn = chart_.turn(y);
  if (!std::isfinite(turn)) return {0};
  const double pieces = std::max(1.0, std::ceil(turn / longest_turn));
  StepBound result{0};
  for (double k = 0; k < pieces; ++k) {
    const double begin = k / pieces, end = k + 1 == pieces ? 1 : (k + 1) / pieces;
    const StepBound piece = feasible_piece(q, y, begin, end);
    if (begin > 0) result.corners.push_back(begin);
    for (const double corner : piece.corners) result.corners.push_back(begin + corner * (end - begin));
    result.alpha = piece.alpha < 1 ? begin + piece.alpha * (end - begin) : end;
    if (piece.alpha < 1) break;
  }
  while (!result.corners.empty() && result.corners.back() >= result.alpha) result.corners.pop_back();
  return result;
}

}  // namespace apart
