#pragma once
#include <apart/simulation/step_problem.hpp>

namespace apart {

/// Throws SolverError if a body that is present in this problem, and was not before, intersects another one
/// in `state`, lies within it, or is nearer than its thickness allows.
void ensure_can_appear(StepProblem& problem, const std::vector<char>& before, const State& state);

}  // namespace apart
