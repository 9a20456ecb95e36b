#include <apart/simulation/teamwork.hpp>

#include <apart/geometry/space_partition.hpp>
#include <apart/simulation/model.hpp>
#include <apart/solver/gathered_solver.hpp>

namespace apart {

std::unique_ptr<LinearSolver> make_linear_solver(const Model& model, const Teamwork& work) {
  const SolverOptions& options = model.options.solver;
  if (!work.team.is_alone() && work.make_linear_solver) return work.make_linear_solver(model);
  auto solver = make_linear_solver(options.linear_solver, options.ordering);
  return work.team.is_alone() ? std::move(solver) : make_gathered_solver(work.team, std::move(solver));
}

OwnNodes own_nodes(const Model& model, const std::vector<char>& present, const Teamwork& work) {
  const Team& team = work.team;
  if (team.is_alone()) return {};
  return {
      work.divide_nodes ? work.divide_nodes(model, present) : divide_space(model.initial_nodes, team.size()),
      team.rank()};
}

}  // namespace apart
