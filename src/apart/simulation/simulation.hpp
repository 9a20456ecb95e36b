#pragma once
#include <apart/core/diagnostics.hpp>
#include <apart/io/frame.hpp>
#include <apart/potentials/barrier_contact.hpp>
#include <apart/simulation/model.hpp>
#include <apart/simulation/probe.hpp>
#include <apart/simulation/state.hpp>
#include <apart/simulation/step_report.hpp>
#include <apart/simulation/teamwork.hpp>
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

/// Progress of the solve of a step.
struct IterationReport {
  Index step = 0;       ///< that is being solved
  int iterations = 0;   ///< Newton iterations of it so far
  double residual = 0;  ///< last Newton step / dt [m/s]
  double alpha = 1;     ///< share of it that was taken
};

/// Advances a model in time. Each step takes a feasible state (no intersection, no inverted element) to the
/// next by minimising the incremental potential of its time integrator [thesis eq. 2.1],
///
///   q⁺ = argmin ½‖q − q̃‖²_M + s Σ Ψ(q) + B(Φ(q)) + D(Φ(q)) + A(q),
///
/// whose stationarity condition is the discrete equation of motion M (q⁺ − q̃) = s · (forces at q⁺). Every
/// iterate on the way is feasible and so is every path between iterates, so a step can be interrupted
/// anywhere. docs/architecture.md describes the phases of a step; StepProblem is what is minimised.
///
/// step() either returns the report of a converged step, or throws SolverError with a diagnosis and leaves
/// the state as it was before.
class Simulation {
 public:
  explicit Simulation(std::shared_ptr<const Model> model);
  /// `work`: the processes of a team all make the simulation of the same model and state, and make its steps
  /// together. step(), prepare_first_iteration() and the constructor are calls of all of them, the other
  /// functions need not be. Callbacks are called where they are set; should_stop of any of them ends the
  /// step. Throws InputError if the model cannot be divided.
  Simulation(std::shared_ptr<const Model> model, State start, const Teamwork& work = {});
  ~Simulation();

  /// Throws SolverError if the solver could not continue, and before the first step InputError if a body is
  /// inside a solid and the model does not allow it. The state is then unchanged.
  StepReport step();
  /// Assembles and solves the first linear system of the next step, to measure its cost. Returns the number
  /// of unknowns. Changes no result.
  Index prepare_first_iteration();

  const Model& model() const { return *model_; }
  /// The same, to be kept: a step may change meshes, and goes on with another model.
  const std::shared_ptr<const Model>& shared_model() const { return model_; }
  const State& state() const { return state_; }
  const Timings& timings() const { return timings_; }
  Timings& timings() { return timings_; }
  /// Bodies that were absent in the last step.
  std::vector<int> absent() const;
  /// Since a body last appeared or disappeared.
  LinearSolverStatistics linear_solver_statistics() const;
  /// All bodies as they are now, with velocity, contact force and stress.
  Frame frame() const;
  /// The contacts at the end of the last step; there must have been one.
  std::vector<ContactForce> contacts() const;
  /// The values of a probe after the last step; there must have been one.
  std::vector<double> measure(const Probe& probe) const;
  /// The same with a meter that is reused from step to step.
  std::vector<double> measure(ProbeMeter& meter) const;
  /// If set, called with the output points of every accepted iterate of a step, the state before it first.
  std::function<void(const Matrix3X& points)> on_iterate;
  /// If set, called when the last so many of these iterates were given up: on meshes that were no better.
  std::function<void(std::size_t count)> on_discard;
  /// If set, called before each step bound with the candidate pairs near its start, which collision detection
  /// tests first and which are nearly always all. Changes no result.
  StepBoundObserver on_step_bound;
  /// If set, called after every Newton iteration.
  std::function<void(const IterationReport&)> on_iteration;
  /// If set, called with a diagnosis when a step has taken solver.slow_iterations, and again each time that
  /// number has doubled. Changes no result.
  std::function<void(const std::string&)> on_slow;
  /// If set, called with other events of a step: joints that break, meshes that were better left as they
  /// were. Changes no result.
  std::function<void(const std::string&)> on_note;
  /// If set, called between Newton iterations and, by any thread, within a factorisation; true ends the step
  /// by throwing Interrupted, with the state before the step.
  std::function<bool()> should_stop;

 private:
  std::shared_ptr<const Model> model_;
  State state_;
  const Teamwork work_;
  Timings timings_;
  void ensure_not_nested() const;
  class Watch;
  void change_presence(const std::vector<char>& present, double time);
  void pass_on(const Matrix3X& q);
  struct Solved;
  /// Solves from the state to the time `end`, dt [s] later, and makes that the state; counts no step. Does
  /// nothing where friction does not settle, if that `must_settle`: see StepReport::friction_unsettled.
  StepReport advance(double end, double dt, bool must_settle);
  /// The same without making it the state. `start`: where the solve begins [m]; none: at the state.
  /// Where a solve begins, if not where the step does, and what may be nearer to the solution [m].
  struct Start {
    const Matrix3X *nodes = nullptr, *ahead = nullptr;
  };
  Solved solve(double end, double dt, const Start& start, bool must_settle = false);
  /// Solves again on better meshes, if there are any.
  Solved improve(Solved solved, double end, double dt);
  void use(std::shared_ptr<const Model> model, State state);
  State end_state(double end, double dt) const;
  std::unique_ptr<StepDivision> division_;
  std::size_t passed_ = 0;  ///< iterates passed on so far
  bool fresh_ = true;       ///< the first step, or a body has appeared since the last one
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
