#pragma once
// The parts of a step, one after the other, without a Simulation around them.
#include <apart/simulation/friction_loop.hpp>
#include <apart/simulation/simulation.hpp>

#include <support/small_scene.hpp>

namespace apart::test {

/// The problem of the step that follows a state: by default of the first one.
struct BegunStep {
  explicit BegunStep(const Simulation& simulation)
      : model(simulation.shared_model()),
        state(simulation.state()),
        problem(*model, present_bodies(*model, state.time + model->options.dt), timings),
        q(state.nodes) {
    problem.begin(state, state.time + model->options.dt, model->options.dt);
    problem.scripted.move(state, problem.time_step.scale, q, [](const Matrix3X&) {});
    problem.stiffness.choose(problem.objective, q);
  }
  explicit BegunStep(const SmallScene& scene) : BegunStep(*scene.simulation()) {}

  /// With κ as it was chosen; joints are closed.
  FrictionResult solve(const FrictionOptions& options = {}) {
    NewtonHooks hooks;
    hooks.accepted = [](const Matrix3X&) { return false; };
    hooks.stationary = [this](const Matrix3X& at) { return problem.joints.update(at); };
    return solve_with_friction(problem, q, hooks, options, report);
  }

  std::shared_ptr<const Model> model;
  State state;
  Timings timings;
  StepProblem problem;
  Matrix3X q;  ///< where the solve starts, and then ends [m]
  StepReport report;
};

}  // namespace apart::test
