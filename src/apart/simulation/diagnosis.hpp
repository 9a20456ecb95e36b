#pragma once
#include <apart/simulation/step_problem.hpp>

#include <string>

namespace apart {

/// Why a step could not be solved, for people: what Newton says, the closest pair, the most compressed
/// element, the scripted node farthest from its target, how far each energy came down from `start` to `q`,
/// and what to try.
std::string diagnose(StepProblem& problem, const Matrix3X& start, const Matrix3X& q,
                     const NewtonResult& result);

}  // namespace apart
