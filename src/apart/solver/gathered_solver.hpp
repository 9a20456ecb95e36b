#pragma once
#include <apart/core/team.hpp>
#include <apart/solver/linear_solver.hpp>

namespace apart {

/// The linear solver of a team whose leader gathers the whole matrix and solves the system with `solver`: for
/// systems that are too small to be worth more.
std::unique_ptr<LinearSolver> make_gathered_solver(const Team& team, std::unique_ptr<LinearSolver> solver);

}  // namespace apart
