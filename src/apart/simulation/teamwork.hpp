#pragma once
#include <apart/core/team.hpp>
#include <apart/io/hdf5_archive.hpp>
#include <apart/potentials/own_nodes.hpp>
#include <apart/solver/linear_solver.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace apart {

struct Model;

/// What a process of a team has at the end of a step.
struct OwnWork {
  Index elements = 0, pairs = 0;  ///< elastic elements; pairs of primitives in the list
  Index blocks = 0;               ///< of 3 × 3 numbers in its summand of the second derivatives
};

/// How the processes of a team divide the work of a simulation. All of them have the model, the state and the
/// list of contacts as a whole, and make the same decisions. Divided are elements (by their nodes), pairs of
/// primitives (by the search for them), what contacts add to energy and gradient, all second derivatives, and
/// the linear system. docs/cluster.md says what that means for time and memory.
struct Teamwork {
  const Team& team = Team::alone();
  /// Makes the solver of a team: each process gives its summand of the matrix (LinearSolver). Empty: the
  /// leader gathers the system and solves it by itself.
  std::function<std::unique_ptr<LinearSolver>(const Model&)> make_linear_solver = {};
  /// The process of each node, the same for all processes, given which bodies are present. Empty:
  /// divide_space.
  std::function<std::vector<int>(const Model&, const std::vector<char>& present)> divide_nodes = {};
  /// Writes an archive as io's write_archive does, but not atomically; called by all processes, with the same
  /// archive. If a process fails it throws InputError for all. Empty: the leader writes by itself.
  std::function<void(const std::filesystem::path&, std::string_view mark, std::uint32_t version,
                     const Archive&)>
      write_archive = {};
  std::function<void(const OwnWork&)> on_step = {};  ///< if set, called after each step
};

/// Of a team of one: that of the model's options.
std::unique_ptr<LinearSolver> make_linear_solver(const Model& model, const Teamwork& work);
/// The nodes whose elements are those of this process.
OwnNodes own_nodes(const Model& model, const std::vector<char>& present, const Teamwork& work);

}  // namespace apart
