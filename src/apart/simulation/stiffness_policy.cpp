#include <apart/core/error.hpp>
#include <apart/simulation/stiffness_policy.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

/// Contacts should rest at half of d̂. The visible thickness of bodies without a volume is the distance that
/// contact keeps, ξ + d̂ [C-IPC §6.6], so they should rest near the end of the reach: at 0.92 of d̂ for ξ =
/// 0.
constexpr BarrierContact::RestingShares resting_shares{.usual = 0.25, .light = 0.85};
/// ... under the weight of up to so many nodes on a contact: larger forces do not come from piles.
constexpr double resting_layers = 30;
/// Before the first contact: the force that would move a node of mean mass by so many d̂ in a step, at least
/// its weight; without inertia the force that would move a node by this share of d̂ if all others were held.
constexpr double start_moves = 2.5, start_deflection = 0.01;
/// How far κ may follow the forces, against the one at the start.
constexpr double lowest_stiffness = 1e-3, highest_stiffness = 1e10;
// Gaps below this share of d̂ make κ grow during a solve; by the published rule, below this share of the
// scene's size [thesis A.6].
constexpr double tiny_share = 1e-4, published_tiny_share = 1e-9;

}  // namespace

StiffnessPolicy::StiffnessPolicy(const Model& model, StepTerms& terms, double node_stiffness)
    : model_(model), terms_(terms), node_stiffness_(node_stiffness) {
  const VectorX mass = model.mass.diagonal();
  double sum = 0, thin_sum = 0;
  Index nodes = 0, thin_nodes = 0;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    if (!terms.present[b]) continue;
    for (Index n = model.first_node[b]; n < model.first_node[b + 1]; ++n) {
      if (!(mass[n] > 0)) continue;
      sum += mass[n];
      ++nodes;
      if (!model.bodies[b].is_thin()) continue;
      thin_sum += mass[n];
      ++thin_nodes;
    }
  }
  mean_mass_ = nodes > 0 ? sum / double(nodes) : 1;
  mean_thin_mass_ = thin_nodes > 0 ? thin_sum / double(thin_nodes) : 0;
  const CollisionSurface& surface = terms.surface;
  if (!surface.weights.empty()) {
    double area = 0;
    Index vertices = 0;
    for (Index v = 0; v < surface.vertex_count(); ++v) {
      const std::size_t b = std::size_t(surface.vertex_body[std::size_t(v)]);
      if (!terms.present[b] || !model.bodies[b].is_dynamic()) continue;
      area += surface.weights.area(v);
      ++vertices;
    }
    if (vertices > 0) mean_weight_ = area / double(vertices);
  }
  published_ = stiffness_range(mean_mass_, model.size, smallest_dhat(terms.surface.pairs));
}

bool StiffnessPolicy::is_adaptive() const {
  return model_.options.contact.stiffness_rule == StiffnessRule::adaptive;
}

void StiffnessPolicy::begin(const State& state, const TimeStep& step, double length, const Matrix3X& x) {
  const double whole = model_.options.dt;
  BarrierContact& contact = terms_.contact;
  contact.set_stiffness(
      state.force_scale > 0 ? state.barrier_stiffness * (step.contact_scale / state.force_scale) : 0.0);
  contact.prepare(x);
  step_ = Step{step.has_inertia, step.contact_scale, length,
               length < whole || (state.step_length > 0 && state.step_length < whole), contact.stiffness()};
  if (!is_adaptive() || model_.options.contact.barrier_stiffness) return;  // no rule asks for it
  const double pile = resting_layers * mean_thin_mass_ * model_.options.gravity.norm() * step.contact_scale;
  step_->resting = contact.resting_stiffness(x, resting_shares, [&](Index c) {
    const auto [a, b] = contact.bodies_of(c);
    return model_.bodies[std::size_t(a)].is_thin() || model_.bodies[std::size_t(b)].is_thin() ? pile : 0.0;
  });
}

const StiffnessPolicy::Step& StiffnessPolicy::step() const {
  ensure(step_.has_value(), "StiffnessPolicy: no step has begun");
  return *step_;
}

/// κ for the forces expected of the first contacts in steps of `length` [s].
double StiffnessPolicy::start_stiffness(double length) const {
  const PairTable& pairs = terms_.surface.pairs;
  const double dhat = smallest_dhat(pairs), weight_of_node = mean_mass_ * model_.options.gravity.norm();
  const double force =
      std::max(weight_of_node, step().has_inertia ? start_moves * dhat * mean_mass_ / (length * length)
                                                  : start_deflection * dhat * node_stiffness_);
  return force * step().force_scale / (pairs.force_per_stiffness() * mean_weight_);
}

StiffnessRange StiffnessPolicy::adaptive_range() const {
  const double start = start_stiffness(model_.options.dt);
  return {lowest_stiffness * start, start, highest_stiffness * start};
}

void StiffnessPolicy::choose(Objective& objective, const Matrix3X& q) {
  const auto& [has_inertia, force_scale, length, divided, last, resting] = step();
  BarrierContact& contact = terms_.contact;
  const double whole = model_.options.dt;
  if (const auto given = model_.options.contact.barrier_stiffness) {
    // Forces are κ ∇b / contact_scale: the same for every integrator. As published, κ contains h².
    const bool is_pressure = model_.options.contact.formulation == ContactFormulation::convergent;
    contact.set_stiffness(*given * (force_scale / (is_pressure ? 1 : whole * whole)));
    return;
  }
  StiffnessRange allowed = is_adaptive() ? adaptive_range() : published_;
  if (is_adaptive() && last > 0) {
    double next = followed_stiffness(last, resting, allowed, length / whole);
    // Bodies that collide in a part of a step do so as they would in steps of that length. While something
    // touches, κ cannot be changed much without a change of energy.
    if (divided && resting == 0) next = std::min(allowed.limit, start_stiffness(length));
    contact.set_stiffness(next);
    return;
  }
  // κ balances the barrier against everything else at q, but for friction, which follows from it. So contacts
  // at the start stay where the scene has placed them.
  objective.prepare(q);
  if (is_adaptive() && contact.term_count() == 0) {
    contact.set_stiffness(allowed.high);
    return;
  }
  contact.set_stiffness(1);
  const FreeCoordinates& free = objective.free();
  const VectorX pressed = free.restrict_to_free(objective.reduced_gradient({Role::contact}));
  const VectorX others =
      free.restrict_to_free(objective.reduced_gradient(~Roles{Role::contact, Role::friction, Role::target}));
  // In a part of a step that is shorter than the last one the same κ would push harder: touching bodies would
  // fly apart with energy that they did not have.
  if (!is_adaptive() && contact.term_count() > 0 && last > 0) allowed.low = std::min(published_.low, last);
  contact.set_stiffness(balanced_stiffness(others, pressed, allowed));
}

double StiffnessPolicy::tiny_gap() const {
  return is_adaptive() ? tiny_share * terms_.surface.pairs.min_dhat() : published_tiny_share * model_.size;
}

double StiffnessPolicy::limit() const {
  if (model_.options.contact.barrier_stiffness) return 0;
  return is_adaptive() ? adaptive_range().limit : published_.limit;
}

GapWatch::GapWatch(const StiffnessPolicy& policy, StepTerms& terms, const Matrix3X& q)
    : terms_(terms),
      x_(terms.model.surface_map.positions(q)),
      tiny_(policy.tiny_gap()),
      limit_(policy.limit()) {
  terms_.contact.prepare(x_);
  active_ = terms_.contact.active_set(x_);
}

bool GapWatch::accept(const Matrix3X& x) {
  track(x);
  BarrierContact& contact = terms_.contact;
  const bool stiffen = contact.stiffness() < limit_ &&
                       is_squeezing(terms_.surface, {active_, x_}, {contact.active_set(x), x}, tiny_);
  active_ = contact.active_set(x);
  x_ = x;
  // For a given force tiny gaps are proportional to κ: this brings them back to the threshold, if they are
  // far below.
  if (stiffen) contact.set_stiffness(contact.stiffness() * std::clamp(tiny_ / active_.min_gap, 2.0, 100.0));
  return stiffen;
}

}  // namespace apart
