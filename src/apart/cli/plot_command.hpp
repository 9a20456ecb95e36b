#pragma once

namespace CLI {
class App;
}

namespace apart {

/// Adds `apart plot`, which draws columns of the tables of runs. Running it sets `code`.
void add_plot_command(CLI::App& app, int& code);

}  // namespace apart
