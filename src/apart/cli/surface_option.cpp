#include <apart/cli/surface_option.hpp>

#include <apart/core/error.hpp>

#include <CLI/CLI.hpp>

#include <string>

namespace apart {

void add_surface_option(CLI::App& command, ShownSurface& surface) {
  command
      .add_option_function<std::string>(
          "--surface",
          [&surface](const std::string& text) {
            try {
              surface = surface_named(text);
            } catch (const InputError& e) {
              throw CLI::ValidationError("--surface", e.what());
            }
          },
          "shape, collision or cells: of volumes of curved cells, or with a collision mesh, their shape (the "
          "mesh, if they have one), the collision surface, or the boundary of the cells; default: shape")
      ->type_name("SURFACE");
}

}  // namespace apart
