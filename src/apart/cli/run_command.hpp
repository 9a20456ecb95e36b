#pragma once

namespace CLI {
class App;
}

namespace apart {

struct Teamwork;

/// The processes that run the command together.
struct RunTeam {
  const Teamwork& work;
  int on_this_machine = 1;  ///< of them
};

/// Adds `apart run`, which simulates a scene or continues a run. Running it sets `code`. With a `team`, of
/// which the leader alone writes and speaks, this is `apart-mpi run`.
void add_run_command(CLI::App& app, int& code, const RunTeam* team = nullptr);

}  // namespace apart
