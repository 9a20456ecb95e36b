#pragma once
#include <apart/core/team.hpp>
#include <apart/solver/linear_solver.hpp>

#include <memory>
#include <span>
#include <string_view>

namespace apart {

/// One way in which a team solves its linear systems.
struct TeamSolverMethod {
  std::string_view name;     ///< of --linear-solver
  std::string_view summary;  ///< one line of documentation
};
std::span<const TeamSolverMethod> team_solver_methods();  ///< the first is the default

/// Up to so many free nodes the solver of one process is faster than any other here, and its factor takes
/// about two gigabytes.
inline constexpr Index default_gathered_nodes = 50'000;

/// Of a team of MPI processes, PETSc being initialised. `alone`: the solver of one process, for systems that
/// the leader solves: of the way "auto" those with up to `gathered_nodes` free nodes. Throws InputError for
/// an unknown name. Options of PETSc's own (PETSC_OPTIONS) have the last word.
std::unique_ptr<LinearSolver> make_team_solver(std::string_view name, const Team& team,
                                               std::unique_ptr<LinearSolver> alone,
                                               Index gathered_nodes = default_gathered_nodes);

/// Begins and ends the use of PETSc; MPI is running.
class PetscSession {
 public:
  PetscSession();
  ~PetscSession();
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;
};

}  // namespace apart
