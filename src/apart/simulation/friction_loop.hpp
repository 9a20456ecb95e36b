#pragma once
#include <apart/simulation/step_problem.hpp>
#include <apart/simulation/step_report.hpp>

namespace apart {

/// Solves a step from q with friction, whose contact forces and sliding planes lag one solve behind
/// [thesis 2.5.5]: as many solves as the scene asks for, or until they settle. `fresh`: there is no step
/// before from which friction could take how hard contacts press. Counts in `report`; q is the last iterate,
/// feasible also if the result says that the step could not be solved.
NewtonResult solve_with_friction(StepProblem& problem, Matrix3X& q, const NewtonHooks& hooks, bool fresh,
                                 Timings& timings, StepReport& report);

}  // namespace apart
