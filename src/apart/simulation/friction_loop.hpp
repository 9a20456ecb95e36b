#pragma once
#include <apart/simulation/step_problem.hpp>
#include <apart/simulation/step_report.hpp>

namespace apart {

struct FrictionResult : NewtonResult {
  /// Why friction did not settle although the scene asks for it; the last solve was accepted.
  std::string unsettled = {};
};

struct FrictionOptions {
  bool fresh = false;    ///< there is no earlier step from which to take normal forces
  int most_solves = 60;  ///< of a step that asks for convergence
};

/// Solves a step from q with friction, whose normal forces and tangent planes lag one solve behind [thesis
/// 2.5.5]: until they settle, or as many solves as the scene asks for. They need not settle: where a sharp
/// edge is driven against another, friction with the tangent plane of one side can push it over to the other
/// side, and friction there pushes it back, whatever share of the forces is updated. The number of solves is
/// therefore limited, and the result reports it. Counts iterations in `report`; q is the last iterate, which
/// is feasible even if the step could not be solved.
FrictionResult solve_with_friction(StepProblem& problem, Matrix3X& q, const NewtonHooks& hooks,
                                   const FrictionOptions& options, StepReport& report);

}  // namespace apart
