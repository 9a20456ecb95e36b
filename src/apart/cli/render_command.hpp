#pragma once

namespace CLI {
class App;
}

namespace apart {

/// Adds `apart render` (pictures and films) and `apart export` (files for other programs). Running one sets
/// `code`.
void add_render_commands(CLI::App& app, int& code);

}  // namespace apart
