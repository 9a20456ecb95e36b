#pragma once
#include <apart/viewer/drawn_surface.hpp>

namespace CLI {
class App;
}

namespace apart {

/// Adds --surface, which surface of volumes is shown.
void add_surface_option(CLI::App& command, ShownSurface& surface);

}  // namespace apart
