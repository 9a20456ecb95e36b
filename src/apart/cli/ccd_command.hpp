#pragma once

namespace CLI {
class App;
}

namespace apart {

/// Adds `apart ccd`, which runs a method of continuous collision detection on files of queries, or generates
/// such files. Running it sets `code`.
void add_ccd_command(CLI::App& app, int& code);

}  // namespace apart
