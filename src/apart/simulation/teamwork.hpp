#pragma once
#include <apart/core/team.hpp>
#include <apart/potentials/own_nodes.hpp>
#include <apart/solver/linear_solver.hpp>

#include <functional>
#include <memory>

namespace apart {

struct Model;

/// How the processes of a team divide the work of a simulation. All of them have the model, the state and the
/// contacts as a whole, and make the same decisions. Divided are elements (by the place of their nodes),
/// pairs of primitives (by the search for them), all second derivatives, and the linear system.
/// docs/cluster.md says what that means for time and memory.
struct Teamwork {
  const Team& team = Team::alone();
  /// Makes the solver of a team: each process gives its summand of the matrix (LinearSolver). Empty: the
  /// leader gathers the system and solves it by itself.
  std::function<std::unique_ptr<LinearSolver>(const Model&)> make_linear_solver = {};
};

/// Of a team of one: that of the model's options.
std::unique_ptr<LinearSolver> make_linear_solver(const Model& model, const Teamwork& work);
/// The nodes whose elements are those of this process.
OwnNodes own_nodes(const Model& model, const Team& team);
/// Throws InputError if the model asks for something that a team cannot do.
void ensure_divisible(const Model& model);

}  // namespace apart
