#pragma once
#include <apart/cli/run_crew.hpp>

#include <functional>
#include <memory>

namespace CLI {
class App;
}

namespace apart {

/// Makes what does the runs, with as many of them at a time on each machine or process; 0: as is best.
using SweepTeam = std::function<std::unique_ptr<RunCrew>(int jobs)>;

/// Adds `apart sweep`, which runs a study. Running it sets `code`. Without a `team` the runs are done on this
/// machine, one for each core at a time.
void add_sweep_command(CLI::App& app, int& code, const SweepTeam& team = {});

}  // namespace apart
