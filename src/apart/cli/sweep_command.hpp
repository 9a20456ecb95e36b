#pragma once

namespace CLI {
class App;
}

namespace apart {

/// Adds `apart sweep`, which runs a study. Running it sets `code`.
void add_sweep_command(CLI::App& app, int& code);

}  // namespace apart
