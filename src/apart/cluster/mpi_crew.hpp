#pragma once
#include <apart/cli/run_crew.hpp>
#include <apart/cluster/mpi_team.hpp>

#include <chrono>
#include <memory>

namespace apart {

/// The crew of a study whose runs are done by all processes of a team: rank 0 hands them out, and does runs
/// itself like the others, which `serve`. A process from which nothing has been heard for `silence` seconds
/// is given up, its runs are lost, and `lost` is set. `jobs`: runs at a time of each process.
std::unique_ptr<RunCrew> make_mpi_crew(const MpiTeam& team, int jobs, double silence, bool& lost);

/// What the other processes do until dismiss() is called.
void serve(const MpiTeam& team);
/// By rank 0, when there is nothing more to do. Where processes were lost, MPI cannot be ended: all leave
/// then, rank 0 with this code.
void dismiss(const MpiTeam& team, bool lost, int code);

}  // namespace apart
