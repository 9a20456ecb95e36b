#include <apart/simulation/sleep.hpp>

#include <apart/core/disjoint_sets.hpp>
#include <apart/core/error.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

// Steps at rest after which an island sleeps.
constexpr int steps_to_sleep = 10;
// Accelerations of what rests, as a share of the one that force_tolerance leaves undecided.
constexpr double still_share = 0.1;

bool any(const std::vector<char>& flags) {
  return std::ranges::any_of(flags, [](char f) { return f != 0; });
}

}  // namespace

Sleep::Sleep(const Model& model, StepTerms& terms, ScriptedMotion& scripted)
    : model_(model),
      terms_(terms),
      scripted_(scripted),
      speed_(model.options.integrator.scheme == Integrator::quasi_static ? 0
                                                                         : model.options.solver.sleep_speed),
      may_rest_(model.bodies.size(), 0),
      calm_(model.bodies.size(), 0),
      asleep_(model.bodies.size(), 0) {}

bool Sleep::any_asleep() const {
  return any(asleep_);
}

/// Which bodies something other than gravity and contact acts on in the step that ends at `end` [s].
Sleep::Flags Sleep::acted_on(double end) const {
  Flags result(model_.bodies.size(), 0);
  const auto acts = [&](const auto& list) {
    return std::ranges::any_of(list, [&](const auto& one) { return one.when.covers(end); });
  };
  for (std::size_t b = 0; b < result.size(); ++b) {
    const Body& body = model_.bodies[b];
    result[b] = acts(body.loads) || acts(body.torques) || acts(body.pressures) || acts(body.winds);
  }
  for (const Attachment& a : model_.attachments)
    if (a.when.covers(end)) result[std::size_t(a.body)] = result[std::size_t(a.other)] = 1;
  for (const Joint& joint : model_.joints)
    for (const JointSide& side : joint.sides)
      if (side.body >= 0 && joint.when.covers(end)) result[std::size_t(side.body)] = 1;
  return result;
}

bool Sleep::goes_on(const State& state, double end) const {
  if (!(speed_ > 0)) return false;
  const Flags acted = acted_on(end);
  const ScriptedMotion::Mask mask = scripted_.nodes().mask(end);
  for (std::size_t b = 0; b < asleep_.size(); ++b) {
    if (!terms_.present[b]) continue;
    const Index first = model_.first_node[b], n = model_.bodies[b].node_count();
    if ((acted[b] && model_.bodies[b].is_dynamic()) ||
        (mask.middleCols(first, n) != scripted_.held().middleCols(first, n)).any())
      return false;
  }
  return scripted_.nodes().apply(state.nodes, scripted_.nodes().anchors(state, end), end) == state.nodes;
}

void Sleep::begin(const Step& step) {
  std::ranges::fill(asleep_, 0);
  if (!(speed_ > 0)) return;
  const Flags acted = acted_on(step.end);
  for (std::size_t b = 0; b < asleep_.size(); ++b) {
    const Index first = model_.first_node[b], n = model_.bodies[b].node_count();
    const auto held = scripted_.held().middleCols(first, n);
    const bool scripted = (held != scripted_.nodes().planes().middleCols(first, n)).any();
    may_rest_[b] = terms_.present[b] && model_.bodies[b].is_dynamic() && !acted[b] && !scripted;
    calm_[b] = held.all() && step.nodes.middleCols(first, n) == step.state.nodes.middleCols(first, n);
  }
  const State& state = step.state;
  const double kappa = terms_.contact.stiffness() / step.force_scale;
  const bool as_before =
      step.length == state.step_length && !step.scripts_are_pulled &&
      std::abs(kappa - state.rest_stiffness) <= model_.options.solver.force_tolerance * state.rest_stiffness;
  if (state.rest.size() == 0 || !as_before) return;
  for (std::size_t b = 0; b < asleep_.size(); ++b)
    if (may_rest_[b] && state.rest[Index(b)] >= steps_to_sleep) asleep_[b] = calm_[b] = 1;
  if (!any_asleep()) return;
  // What a script takes away is touched before, what it brings after it was moved.
  terms_.contact.prepare(terms_.start);
  wake_touched(terms_.start);
  if (step.nodes != state.nodes) {
    const Matrix3X x = model_.surface_map.positions(step.nodes);
    terms_.contact.prepare(x);
    wake_touched(x);
  }
  apply();
}

/// Without holding or releasing anything.
bool Sleep::wake_touched(const Matrix3X& x) {
  ensure(terms_.contact.is_at(x), "Sleep: contacts are prepared elsewhere");
  DisjointSets islands(Index(asleep_.size()));
  Flags touched(asleep_.size(), 0);
  for (Index i = 0; i < terms_.contact.term_count(); ++i) {
    const auto [a, b] = terms_.contact.bodies_of(i);
    if (asleep_[std::size_t(a)] && asleep_[std::size_t(b)]) islands.join(a, b);
  }
  for (Index i = 0; i < terms_.contact.term_count(); ++i) {
    const auto [a, b] = terms_.contact.bodies_of(i);
    if (asleep_[std::size_t(a)] && !calm_[std::size_t(b)]) touched[std::size_t(islands.find(a))] = 1;
    if (asleep_[std::size_t(b)] && !calm_[std::size_t(a)]) touched[std::size_t(islands.find(b))] = 1;
  }
  if (!any(touched)) return false;
  for (int b = 0; b < int(asleep_.size()); ++b)
    if (asleep_[std::size_t(b)] && touched[std::size_t(islands.find(b))])
      asleep_[std::size_t(b)] = calm_[std::size_t(b)] = 0;
  return true;
}

bool Sleep::wake(const Matrix3X& x) {
  if (!any_asleep() || !wake_touched(x)) return false;
  apply();
  return true;
}

bool Sleep::wake_all() {
  if (!any_asleep()) return false;
  for (std::size_t b = 0; b < asleep_.size(); ++b)
    if (asleep_[b]) asleep_[b] = calm_[b] = 0;
  apply();
  return true;
}

/// Holds what sleeps.
void Sleep::apply() {
  ScriptedMotion::Mask resting = ScriptedMotion::Mask::Constant(3, model_.node_count(), false);
  for (std::size_t b = 0; b < asleep_.size(); ++b)
    if (asleep_[b]) resting.middleCols(model_.first_node[b], model_.bodies[b].node_count()) = true;
  scripted_.set_resting(std::move(resting));
}

void Sleep::finish(const State& before, double force_scale, State& after) const {
  if (!(speed_ > 0)) return;
  ensure(terms_.contact.is_at(model_.surface_map.positions(after.nodes)),
         "Sleep: contacts are not those of the end of the step");
  const double acceleration =
      still_share * model_.options.solver.force_tolerance * model_.options.gravity.norm();
  const double change = acceleration > 0 ? acceleration * after.step_length : infinity;
  after.rest = VectorX::Zero(Index(asleep_.size()));
  DisjointSets islands(Index(asleep_.size()));
  for (Index i = 0; i < terms_.contact.term_count(); ++i) {
    const auto [a, b] = terms_.contact.bodies_of(i);
    const auto moves = [&](int body) { return !calm_[std::size_t(body)] || is_asleep(body); };
    if (moves(a) && moves(b)) islands.join(a, b);
  }
  for (std::size_t b = 0; b < asleep_.size(); ++b) {
    const Index first = model_.first_node[b], n = model_.bodies[b].node_count();
    double& rest = after.rest[Index(b)];
    if (asleep_[b]) {
      for (const auto kept : {&State::velocity, &State::acceleration, &State::mean_acceleration,
                              &State::previous_nodes, &State::previous_velocity})
        (after.*kept).middleCols(first, n) = (before.*kept).middleCols(first, n);
      rest = steps_to_sleep;
    } else if (may_rest_[b]) {
      const auto v = after.velocity.middleCols(first, n);
      const bool still = v.cwiseAbs().maxCoeff() <= speed_ &&
                         (v - before.velocity.middleCols(first, n)).cwiseAbs().maxCoeff() <= change;
      const double so_far = before.rest.size() > 0 ? before.rest[Index(b)] : 0;
      rest = still ? std::min<double>(so_far + 1, steps_to_sleep) : 0;
    }
  }
  for (int b = 0; b < int(asleep_.size()); ++b) {
    double& of_island = after.rest[islands.find(b)];
    if (!calm_[std::size_t(b)] || is_asleep(b)) of_island = std::min(of_island, after.rest[b]);
  }
  for (int b = 0; b < int(asleep_.size()); ++b) after.rest[b] = after.rest[islands.find(b)];
  if ((after.rest.array() >= steps_to_sleep).any())
    after.rest_stiffness = any_asleep() ? before.rest_stiffness : terms_.contact.stiffness() / force_scale;
}

}  // namespace apart
