#include <apart/core/error.hpp>
#include <apart/simulation/diagnosis.hpp>
#include <apart/simulation/solve_watch.hpp>

#include <algorithm>
#include <utility>

namespace apart {

Simulation::Watch::Watch(Simulation& simulation, StepReport& report, const Matrix3X& begun)
    : simulation_(simulation),
      problem_(*simulation.problem_),
      report_(report),
      begun_(begun),
      gaps_(problem_.stiffness, problem_.terms, begun),
      slow_(problem_.model.options.solver.slow_iterations) {}

NewtonHooks Simulation::Watch::hooks() {
  NewtonHooks hooks;
  if (simulation_.on_iterate) hooks.passed = [this](const Matrix3X& q) { simulation_.pass_on(q); };
  hooks.accepted = [this](const Matrix3X& q) { return accept(q); };
  hooks.stationary = [this](const Matrix3X& q) { return go_on(q); };
  if (problem_.model.options.solver.termination == Termination::balanced)
    hooks.imbalance = [this](const Gradient& gradient) {
      forces_ = problem_.force_balance(gradient);
      return forces_->imbalance;
    };
  if (problem_.time_step.has_inertia)
    hooks.farthest = [this](const Gradient& gradient) { return problem_.longest_step(gradient); };
  if (simulation_.should_stop && team().is_alone()) hooks.check = [this] { stop_if_asked(); };
  hooks.iterated = [this](const Matrix3X& q, const NewtonProgress& progress) { count(q, progress); };
  return hooks;
}

void Simulation::Watch::finish() {
  gaps_.track(problem_.objective.vertices());
  // A solve that ends when forces balance has just computed it, at q.
  if (!forces_) forces_ = problem_.force_balance(Gradient(problem_.objective));
  report_.force_residual = forces_->share;
  report_.min_gap = gaps_.min_gap();
  report_.mean_step = iterations_ > 0 ? steps_taken_ / iterations_ : 1;
  report_.converged = true;
}

bool Simulation::Watch::go_on(const Matrix3X& q) {
  const bool pulled = problem_.scripted.pull(q), woken = std::exchange(woken_, false);
  try {
    return problem_.joints.update(q) || pulled || woken;
  } catch (const SolverError& e) {
    throw SolverError(fmt::format("step {} (t = {:.6g} s): {}", report_.step, report_.time, e.what()));
  }
}

void Simulation::Watch::stop_if_asked() const {
  if (team().any(simulation_.should_stop && simulation_.should_stop())) throw Interrupted("interrupted");
}

bool Simulation::Watch::accept(const Matrix3X& q) {
  stop_if_asked();
  simulation_.pass_on(q);
  const Matrix3X& x = problem_.objective.vertices();
  const bool stiffened = gaps_.accept(x),
             limited = problem_.terms.elastic.membranes.adapt_stiffness(q, team()),
             held = problem_.scripted.hold(q);
  // After whole steps too: where no quadrature point is near, a cell can be flattened at hardly any cost.
  const bool refined = team().any(problem_.terms.elastic.refine_further(q));
  const bool follows = !problem_.time_step.has_inertia;
  if (follows) problem_.terms.inertia.set_target(q);  // the proximal term follows
  // With another κ what sleeps would have other gaps.
  woken_ = stiffened ? problem_.sleep.wake_all() : problem_.sleep.wake(x);
  return stiffened || limited || held || refined || follows || woken_;
}

void Simulation::Watch::count(const Matrix3X& q, const NewtonProgress& progress) {
  ++iterations_;
  steps_taken_ += std::min(progress.alpha, 1.0);
  report_.shortest_step = std::min(report_.shortest_step, progress.alpha);
  if (simulation_.on_iteration)
    simulation_.on_iteration({report_.step, iterations_, progress.residual, progress.alpha});
  if (iterations_ < slow_) return;
  slow_ *= 2;
  NewtonResult now;
  now.residual = progress.residual;
  now.failure = fmt::format("{} Newton iterations, of the last step {:.3g} could be taken", iterations_,
                            progress.alpha);
  if (!simulation_.on_slow && team().is_alone()) return;
  const std::string why = diagnose(problem_, begun_, q, now);  // all processes together
  if (simulation_.on_slow)
    simulation_.on_slow(fmt::format("step {} (t = {:.6g} s) is slow: {}", report_.step, report_.time, why));
}

}  // namespace apart
