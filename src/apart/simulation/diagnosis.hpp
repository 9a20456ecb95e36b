#pragma once
#include <apart/simulation/step_problem.hpp>

#include <string>

namespace apart {

/// Why a step could not be solved, as text for the user: how Newton's method ended, the closest pair, of
/// each kind of element the one that is deformed most, the scripted node farthest from its target, the change
/// of each energy from `start` to `q`, and what to try. Leaves the problem prepared at q.
std::string diagnose(StepProblem& problem, const Matrix3X& start, const Matrix3X& q,
                     const NewtonResult& result);

}  // namespace apart
