#pragma once

namespace CLI {
class App;
}

namespace apart {

/// `apart new`: writes a commented scene to start from, from flags or, on a terminal, from answers.
void add_new_command(CLI::App& app, int& code);

}  // namespace apart
