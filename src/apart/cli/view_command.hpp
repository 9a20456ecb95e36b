#pragma once

namespace CLI {
class App;
}

namespace apart {

/// Adds `apart view`, which shows runs in a browser until it is interrupted. Running it sets `code`.
void add_view_command(CLI::App& app, int& code);

}  // namespace apart
