#pragma once
#include <apart/core/diagnostics.hpp>
#include <apart/io/frame.hpp>
#include <apart/potentials/barrier_contact.hpp>
#include <apart/simulation/model.hpp>
#include <apart/simulation/probe.hpp>
#include <apart/simulation/state.hpp>
#include <apart/simulation/step_report.hpp>
#include <apart/solver/linear_solver.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace apart {

/// Before the first step.
State start_state(const Model& model);

class StepDivision;
class StepEnd;
struct StepProblem;

/// Where the solve of a step stands.
struct IterationReport {
  Index step = 0;       ///< that is being solved
  int iterations = 0;   ///< Newton iterations of it so far
  double residual = 0;  ///< last Newton step / dt [m/s]
  double alpha = 1;     ///< share of it that was taken
};

/// Advances a model in time. step() either returns a converged report or throws SolverError with a diagnosis
/// and leaves the state as it was before the step.
class Simulation {
 public:
  explicit Simulation(std::shared_ptr<const Model> model);
  Simulation(std::shared_ptr<const Model> model, State start);
  ~Simulation();

  /// Throws SolverError if it could not go on, and before the first step InputError if a body is inside a
  /// solid and the model does not allow it; everything then is as it was.
  StepReport step();
  /// Assembles and solves the first linear system of the next step, to see what that costs. Returns the
  /// number of unknowns. Changes no result.
  Index prepare_first_iteration();

  const Model& model() const { return *model_; }
  const State& state() const { return state_; }
  const Timings& timings() const { return timings_; }
  Timings& timings() { return timings_; }
  /// Bodies that were not there in the last step.
  std::vector<int> absent() const;
  /// Since bodies last came or went.
  LinearSolverStatistics linear_solver_statistics() const;
  /// All bodies as they are now, with velocity, contact force and stress.
  Frame frame() const;
  /// What a probe shows after the last step; there must have been one.
  std::vector<double> measure(const Probe& probe) const;
  /// The same by a meter that is used again and again.
  std::vector<double> measure(ProbeMeter& meter) const;
  /// If set, called with the output points of every accepted iterate of a step, the state before it first.
  std::function<void(const Matrix3X& points)> on_iterate;
  /// If set, called before each bound of a step with the pairs near the surface at its start, which are
  /// what collision detection is asked first, and nearly always all. Changes no result.
  StepBoundObserver on_step_bound;
  /// If set, called after every Newton iteration.
  std::function<void(const IterationReport&)> on_iteration;
  /// If set, told what holds up a step that takes more than solver.slow_iterations, and again each time that
  /// number has doubled. Changes no result.
  std::function<void(const std::string&)> on_slow;
  /// If set, told what else happens in a step: joints that break. Changes no result.
  std::function<void(const std::string&)> on_note;
  /// If set, asked between Newton iterations; true ends the step with Interrupted and the state before the
  /// step.
  std::function<bool()> should_stop;

 private:
  std::shared_ptr<const Model> model_;
  State state_;
  Timings timings_;
  void ensure_not_nested() const;
  class Watch;
  void change_presence(const std::vector<char>& present, double time);
  void pass_on(const Matrix3X& q) const;
  /// Solves from the state to the time `end`, dt [s] later, and makes that the state; counts no step.
  StepReport advance(double end, double dt);
  State end_state(double end, double dt) const;
  std::unique_ptr<StepDivision> division_;
  bool fresh_ = true;  ///< bodies are there that were not in the step before
  std::unique_ptr<StepProblem> problem_;
  std::unique_ptr<const StepEnd> end_;  ///< of the last step, until the next begins
  std::optional<StepReport> steady_;    ///< of the last step, if it changed nothing because everything sleeps
};

/// Thrown by Simulation::step when should_stop said so.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace apart
