#pragma once
#include <apart/simulation/simulation.hpp>

#include <cstdint>
#include <filesystem>

namespace apart {

/// How the leader of a team, which keeps the run's files, tells the others what to do. Both sides call these
/// in turn; with a team of one they do nothing.
void announce_step(const Team& team);  ///< before each Simulation::step()
void announce_end(const Team& team);   ///< when no more will follow
/// Before the write_checkpoint() of all, with these arguments.
void announce_checkpoint(const Team& team, const std::filesystem::path& file, std::uint64_t scene);

/// What the other processes do: the leader's steps and checkpoints, as long as it announces them. A step that
/// fails, fails for all, and leaves the state as it was; what to make of it is for the leader to decide.
void follow_run(std::shared_ptr<const Model> model, State start, const Teamwork& work);

}  // namespace apart
