#include <apart/simulation/friction_loop.hpp>

namespace apart {

namespace {

// Lagged friction solves after which a step that asks for convergence fails.
constexpr int max_friction_iterations = 200;

/// Share of the updated forces in the next lagged solve; the rest is as in the last solve. Lagged iterations
/// need not converge [thesis 2.5.5]: often they alternate between states, which half the change damps.
double renewed_share(int friction_iterations) {
  return friction_iterations < 10 ? 1 : friction_iterations < 80 ? 0.5 : 0.25;
}

}  // namespace

NewtonResult solve_with_friction(StepProblem& p, Matrix3X& q, const NewtonHooks& hooks, bool fresh,
                                 Timings& timings, StepReport& report) {
  const SimulationOptions& options = p.model.options;
  const auto solve = [&](int max_iterations) {
    const NewtonOptions newton_options{options.solver.tolerance, p.dt,
                                       options.solver.termination == Termination::l2_norm, max_iterations};
    const NewtonResult result = newton(p.objective, *p.linear_solver, q, hooks, newton_options, timings);
    report.newton_iterations += result.iterations;
    report.linear_solves += result.linear_solves;
    report.residual = result.residual;
    return result;
  };
  const bool friction = p.has_friction();
  int wanted = friction ? options.contact.friction_iterations : 1;
  // At the start there is no earlier step, only the gaps of the initial placement: solve again with the
  // forces of the end.
  if (friction && wanted > 0 && fresh) ++wanted;
  double share = 1;
  while (true) {
    NewtonResult result = solve(options.solver.max_iterations);
    if (!result.converged) return result;
    ++report.friction_iterations;
    // Until convergence [thesis eq. 2.17]: with updated forces and bases, Newton has nothing left to do.
    const bool settled = report.friction_iterations > 1 && result.at_once && share == 1;
    if (wanted > 0 ? report.friction_iterations >= wanted : settled) return result;
    if (report.friction_iterations >= max_friction_iterations) {
      result.converged = false;
      result.failure = fmt::format(
          "lagged friction did not converge in {} solves; set contact.friction_iterations to a positive "
          "number to accept the last solve",
          max_friction_iterations);
      return result;
    }
    p.objective.prepare(q);
    share = wanted > 0 ? 1 : renewed_share(report.friction_iterations);
    const Friction before = p.terms.friction;
    p.lag_friction(p.objective.vertices());
    if (share == 1) continue;
    if (NewtonResult probe = solve(1); probe.at_once) {
      probe.converged = true;
      return probe;
    }
    p.terms.friction.mix(before, share);
  }
}

}  // namespace apart
