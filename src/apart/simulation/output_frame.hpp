#pragma once
#include <apart/io/frame.hpp>
#include <apart/simulation/step_problem.hpp>

namespace apart {

/// All bodies as they are in `state`, with velocity, contact force and stress.
Frame make_frame(const StepProblem& problem, const State& state);

}  // namespace apart
