#pragma once
#include <apart/importers/importers.hpp>

namespace apart {

/// Whether a .json file is a scene of PolyFEM, in its present or its old form, by its content.
bool is_polyfem_scene(const std::filesystem::path& file);

/// Reads a scene of PolyFEM with the files it is based on and the meshes it names, and converts it to an
/// equivalent scene. Throws InputError that names file, line and path.
ImportedScene import_polyfem_scene(const std::filesystem::path& file, const ImportOptions& options);

}  // namespace apart
