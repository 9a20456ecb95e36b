#pragma once
#include <apart/io/frame.hpp>
#include <apart/simulation/step_problem.hpp>

namespace apart {

/// All bodies as they are in `state`, with velocity, contact force and stress. Leaves the problem prepared
/// there.
Frame make_frame(StepProblem& problem, const State& state);

}  // namespace apart
