#include <apart/simulation/friction_loop.hpp>

namespace apart {

namespace {

/// Share of the updated forces in the next lagged solve; the rest is as in the last solve. Lagged iterations
/// need not converge [thesis 2.5.5]: often they alternate between states, which half the change damps.
double renewed_share(int friction_iterations) {
  return friction_iterations < 10 ? 1 : friction_iterations < 40 ? 0.5 : 0.25;
}

/// Between which bodies lagged forces would change most if they were renewed where the problem is prepared.
std::string largest_change(const StepProblem& p) {
  Friction renewed = p.terms.friction;
  renewed.set_lag(p.terms.contact, p.objective.vertices(), p.dt);
  const Friction::Change change = renewed.largest_change(p.terms.friction);
  if (change.bodies.first < 0) return "forces stay, but Newton's method has more to do";
  const auto name = [&](int body) { return p.model.bodies[std::size_t(body)].name; };
  return fmt::format("a contact of '{}' and '{}' still changes by {:.0f} % of the largest force",
                     name(change.bodies.first), name(change.bodies.second), 100 * change.share);
}

}  // namespace

FrictionResult solve_with_friction(StepProblem& p, Matrix3X& q, const NewtonHooks& hooks,
                                   const FrictionOptions& limits, StepReport& report) {
  const SimulationOptions& options = p.model.options;
  const auto solve = [&](int max_iterations) {
    const NewtonOptions newton_options{options.solver.tolerance, p.dt,
                                       options.solver.termination == Termination::l2_norm, max_iterations};
    const NewtonResult result = newton(p.objective, {*p.linear_solver, p.timings}, q, hooks, newton_options);
    report.newton_iterations += result.iterations;
    report.linear_solves += result.linear_solves;
    report.residual = result.residual;
    return result;
  };
  const bool friction = p.has_friction();
  int wanted = friction ? options.contact.friction_iterations : 1;
  // At the start there is no earlier step, only the gaps of the initial placement: solve again with the
  // forces of the end.
  if (friction && wanted > 0 && limits.fresh) ++wanted;
  double share = 1;
  while (true) {
    FrictionResult result{solve(options.solver.max_iterations)};
    if (!result.converged) return result;
    ++report.friction_iterations;
    // Until convergence [thesis eq. 2.17]: with updated forces and bases, Newton has nothing left to do.
    const bool settled = report.friction_iterations > 1 && result.at_once && share == 1;
    if (settled || (wanted > 0 && report.friction_iterations >= wanted)) return result;
    p.objective.prepare(q);
    if (report.friction_iterations >= limits.most_solves) {
      result.unsettled = fmt::format("friction has not settled in {} solves: {}; the last one is accepted",
                                     limits.most_solves, largest_change(p));
      return result;
    }
    share = wanted > 0 ? 1 : renewed_share(report.friction_iterations);
    const Friction before = p.terms.friction;
    p.lag_friction(p.objective.vertices());
    if (share == 1) continue;
    if (NewtonResult probe = solve(1); probe.at_once) {
      probe.converged = true;
      return {probe};
    }
    p.terms.friction.mix(before, share);
  }
}

}  // namespace apart
