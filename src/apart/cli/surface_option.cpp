#include <apart/cli/surface_option.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <string>

namespace apart {

void add_surface_option(CLI::App& command, ShownSurface& surface) {
  command
      .add_option_function<std::string>(
          "--surface",
          [&surface](const std::string& text) {
            if (text == "shape")
              surface = ShownSurface::shape;
            else if (text == "collision")
              surface = ShownSurface::collision;
            else if (text == "cells")
              surface = ShownSurface::cells;
            else
              throw CLI::ValidationError(
                  "--surface", fmt::format("got '{}', must be 'shape', 'collision' or 'cells'", text));
          },
          "shape, collision or cells: of volumes of curved cells, or with a collision mesh, their shape (the "
          "mesh, if they have one), the collision surface, or the boundary of the cells; default: shape")
      ->type_name("SURFACE");
}

}  // namespace apart
