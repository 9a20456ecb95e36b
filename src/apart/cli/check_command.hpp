#pragma once

namespace CLI {
class App;
}

namespace apart {

/// Adds `apart check`, which says what would keep a scene from running, and can separate what overlaps.
/// Running it sets `code`.
void add_check_command(CLI::App& app, int& code);

}  // namespace apart
