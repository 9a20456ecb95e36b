#pragma once

namespace CLI {
class App;
}

namespace apart {

/// Adds `apart ccd`, which asks a method of continuous collision detection the queries of files, or makes
/// such files. Running it sets `code`.
void add_ccd_command(CLI::App& app, int& code);

}  // namespace apart
