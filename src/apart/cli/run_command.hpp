#pragma once

namespace CLI {
class App;
}

namespace apart {

/// Adds `apart run`, which simulates a scene or continues a run. Running it sets `code`.
void add_run_command(CLI::App& app, int& code);

}  // namespace apart
