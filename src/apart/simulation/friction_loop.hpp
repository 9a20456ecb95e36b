#pragma once
#include <apart/simulation/step_problem.hpp>
#include <apart/simulation/step_report.hpp>

namespace apart {

/// Solves a step from q with friction, whose normal forces and tangent planes lag one solve behind [thesis
/// 2.5.5]: as many solves as the scene asks for, or until they settle. `fresh`: there is no earlier step from
/// which to take normal forces. Counts iterations in `report`; q is the last iterate, which is feasible even
/// if the step could not be solved.
NewtonResult solve_with_friction(StepProblem& problem, Matrix3X& q, const NewtonHooks& hooks, bool fresh,
                                 Timings& timings, StepReport& report);

}  // namespace apart
