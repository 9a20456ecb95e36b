#include <apart/simulation/scripted_motion.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

// thesis A.5
constexpr double target_reached = 0.999, target_near = 0.99, target_far = 0.9;
// The thesis starts with 1e6 and stops at 1e8, against masses, which is soft against steel. The pull starts
// this much stiffer than what it may have to deform, so that scripted parts stay close to their straight
// path.
constexpr double target_start = 1e6, target_start_of_elastic = 1e4;
// Bodies with charts cannot be deformed by a soft pull. A stiff one drives them into what is in their way,
// down to gaps that leave no room to turn. [thesis 4.4.4]
constexpr double target_start_of_charts = 1e3;
constexpr double largest_target_growth = 1e8;
// Scripted motion that would leave a smaller share of d̂ as gap is solved together with what it pushes.
constexpr double smallest_gap_share = 0.1;

}  // namespace

ScriptedMotion::ScriptedMotion(const Model& model, StepTerms& terms, Objective& objective,
                               const Scales& scales)
    : model_(model), terms_(terms), objective_(objective), scales_(scales), nodes_(model) {}

void ScriptedMotion::begin(const State& state, double end, double length) {
  end_ = end;
  length_ = length;
  anchors_ = nodes_.anchors(state, end);
  held_ = nodes_.mask(end);
  for (std::size_t b = 0; b < model_.bodies.size(); ++b)
    if (!terms_.present[b]) held_.middleCols(model_.first_node[b], model_.bodies[b].node_count()) = true;
  resting_ = Mask::Constant(3, model_.node_count(), false);
  hold_all();
}

void ScriptedMotion::hold_all() {
  terms_.target.targets.clear();
  set_free();
}

void ScriptedMotion::set_resting(Mask resting) {
  resting_ = std::move(resting);
  set_free();
}

/// What the augmented Lagrangian pulls is free.
void ScriptedMotion::set_free() {
  Mask free = !held_ && !resting_;
  for (const auto& target : terms_.target.targets) free.col(target.node) = !nodes_.planes().col(target.node);
  objective_.set_free(FreeCoordinates(model_.chart.free_unknowns(free)));
}

bool ScriptedMotion::move(const State& state, double scale, int pieces, Matrix3X& q,
                          FunctionRef<void(const Matrix3X&)> passed) {
  const Matrix3X goal = at_end(q);
  Matrix3X way;
  bool is_free = true;
  for (int k = 1; k <= pieces && is_free; ++k) {
    const Matrix3X next = k == pieces ? goal : nodes_.apply(q, anchors_, state.time + length_ * k / pieces);
    way = next - q;
    if (way.cwiseAbs().maxCoeff() == 0) continue;
    is_free = objective_.feasible_step(Path{q, way}) >= 1 && keeps_gaps(q, next);
    if (!is_free) break;
    q = next;
    passed(q);
  }
  if (is_free) return true;
  ScriptTarget& target = terms_.target;
  const VectorX mass = model_.mass.diagonal();
  std::vector<char> has_chart(std::size_t(model_.node_count()), false);
  for (const Chart::Part& part : model_.chart.parts())
    std::fill_n(has_chart.begin() + part.first_node, part.chart->node_count(), true);
  bool all_charts = true;
  for (Index n = 0; n < model_.node_count(); ++n) {
    const Vector3 mask = held_.col(n).cast<double>();
    if ((way.col(n).isZero(0) && (goal.col(n) - q.col(n)).isZero(0)) || mask.isZero(0)) continue;
    // Obstacles have no mass of their own; the mean of the scene's nodes only scales the pull.
    target.targets.push_back({n, goal.col(n), mask, mass[n] > 0 ? mass[n] : scales_.mass, Vector3::Zero()});
    all_charts &= bool(has_chart[std::size_t(n)]);
  }
  target.stiffness = all_charts ? target_start_of_charts : start_stiffness(scale);
  limit_ = largest_target_growth * target.stiffness;
  set_free();
  start_error_ = target.squared_error(q);
  return false;
}

/// Whether gaps are still a fair share of d̂ after a move, or nearly what they were.
bool ScriptedMotion::keeps_gaps(const Matrix3X& from, const Matrix3X& to) {
  BarrierContact& contact = terms_.contact;
  const auto gap = [&](const Matrix3X& q) {
    const Matrix3X x = model_.surface_map.positions(q);
    contact.prepare(x);
    return contact.active_set(x).min_gap;
  };
  const double before = gap(from);
  return gap(to) >= smallest_gap_share * std::min(before, smallest_dhat(terms_.surface.pairs));
}

double ScriptedMotion::start_stiffness(double scale) const {
  return std::max(target_start, target_start_of_elastic * scale * scales_.stiffness / scales_.mass);
}

double ScriptedMotion::progress(const Matrix3X& q) const {
  return 1 - std::sqrt(terms_.target.squared_error(q) / start_error_);
}

bool ScriptedMotion::hold(const Matrix3X& q) {
  if (terms_.target.targets.empty() || progress(q) < target_reached) return false;
  hold_all();
  return true;
}

bool ScriptedMotion::pull(const Matrix3X& q) {
  ScriptTarget& target = terms_.target;
  if (target.targets.empty()) return false;
  const double reached = progress(q);
  if (reached < target_near && target.stiffness < limit_)
    target.stiffness *= reached < target_far ? 10 : 2;
  else
    target.update_multipliers(q);
  return true;
}

}  // namespace apart
