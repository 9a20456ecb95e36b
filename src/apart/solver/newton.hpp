#pragma once
#include <apart/core/diagnostics.hpp>
#include <apart/solver/linear_solver.hpp>
#include <apart/solver/objective.hpp>

#include <functional>
#include <string>

namespace apart {

struct NewtonOptions {
  double tolerance = 1e-3;  ///< [m/s]
  double dt = 0.01;         ///< h [s]
  bool l2_norm = false;  ///< normalised L2 norm, three times in a row [C-IPC supplement §7], instead of the
                         ///< largest entry
  int max_iterations = 1000;
};

/// How an iteration went.
struct NewtonProgress {
  int iterations = 0;   ///< so far in this solve
  double residual = 0;  ///< Newton step / dt [m/s]
  double alpha = 1;     ///< share of the Newton step that was taken; more than 1 where E kept falling
};

/// Callbacks of newton().
struct NewtonHooks {
  /// Before each accepted iterate: corners of a curved path on the way to it. May be empty.
  std::function<void(const Matrix3X& q)> passed = {};
  /// After each accepted iterate. May change the objective's parameters; then true.
  std::function<bool(const Matrix3X& q)> accepted;
  /// When the tolerance is met: true if the objective was changed and the iteration must continue.
  std::function<bool(const Matrix3X& q)> stationary;
  /// The largest unbalanced force as a multiple of what is allowed, where the objective is; forces balance if
  /// it is at most 1. Empty: the length of the Newton step alone decides.
  std::function<double(const Gradient&)> imbalance = {};
  /// A bound on the Newton step that this gradient leads to, as step_norm() measures it [m]; asked before the
  /// first iteration. Empty: not known.
  std::function<double(const Gradient&)> farthest = {};
  /// Called now and then while a linear system is solved, by any thread; may throw to end the solve. May be
  /// empty.
  std::function<void()> check = {};
  /// After each iteration, the problem prepared at q; must not change it. May be empty.
  std::function<void(const Matrix3X& q, const NewtonProgress&)> iterated = {};
};

/// What newton() works with.
struct NewtonTools {
  LinearSolver& linear_solver;
  Timings& timings;
};

struct NewtonResult {
  bool converged = false;
  bool at_once = false;  ///< the very first step, or the start, met the tolerance, and forces balanced
  int iterations = 0;
  int linear_solves = 0;
  double residual = 0;   ///< last step / dt [m/s]
  double imbalance = 0;  ///< NewtonHooks::imbalance at the end of the last step that met the tolerance
  std::string failure;   ///< why it stopped, if not converged
};

/// Norm of a Newton step as the stopping rule measures it [m]; p: the displacement of the nodes.
double step_norm(const Matrix3X& p, const FreeCoordinates& free, bool l2_norm);

/// How much of a path is worth taking: the part that is feasible, or nothing unless all of it is.
enum class PathUse { free_part, whole };
struct StartingStep {
  const Matrix3X& y;  ///< of the unknowns
  PathUse use;
};
/// Moves q along a step of the unknowns if E is lower at its end: newton() then has less to do. Calls the
/// hooks for the way. Returns whether q was moved; the objective is prepared anywhere.
bool start_along(Objective& objective, const StartingStep& step, Matrix3X& q, const NewtonHooks& hooks,
                 Timings& timings);

/// Minimises the objective by Newton's method with projected Hessians and a feasible line search [thesis
/// algorithm 2.1]. Each iteration
///
/// 1. solves H p = −g, with every local Hessian made positive semi-definite so that p points downhill; where
///    steps shrink slowly, and where bodies have charts, the exact Hessian is tried first, which is less
///    stiff if curvature is negative. The step is passed on to the potentials (Objective::follow), of which
///    friction learns from it what contacts will hold;
/// 2. bounds the step by what every term allows (collision, inversion, strain limit), so that no infeasible
///    point is ever evaluated;
/// 3. halves the step until E does not grow, moves it back from the far side of a kink, and lengthens it
///    where E is still falling steeply at its end.
///
/// There is no iteration if forces balance far better than they must and a step could not be long.
/// It ends when the Newton step is short, ‖p‖ ≤ tolerance · dt, and forces balance as hooks.imbalance says.
/// q is the start and, on return, the last accepted iterate: always feasible, converged if the result says
/// so.
NewtonResult newton(Objective& objective, const NewtonTools& tools, Matrix3X& q, const NewtonHooks& hooks,
                    const NewtonOptions& options);

}  // namespace apart
