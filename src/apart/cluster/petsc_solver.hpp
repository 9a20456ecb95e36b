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

/// Of a team of MPI processes, PETSc being initialised. `alone`: the solver of one process, for systems that
/// the leader solves. Throws InputError for an unknown name. Options of PETSc's own (PETSC_OPTIONS) have the
/// last word.
std::unique_ptr<LinearSolver> make_team_solver(std::string_view name, const Team& team,
                                               std::unique_ptr<LinearSolver> alone);

/// Begins and ends the use of PETSc; MPI is running.
class PetscSession {
 public:
  PetscSession();
  ~PetscSession();
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;
};

}  // namespace apart
