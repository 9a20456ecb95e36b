#pragma once

namespace CLI {
class App;
}

namespace apart {

/// `apart completion SHELL` and `apart manual`: what shells and man(1) know about the program, made from the
/// commands and options themselves. Call it after all other commands have been added; `app` must outlive the
/// parsing.
void add_manual_commands(CLI::App& app, int& code);

}  // namespace apart
