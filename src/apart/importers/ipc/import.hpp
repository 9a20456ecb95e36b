#pragma once
#include <apart/importers/importers.hpp>

#include <filesystem>

namespace apart {

/// Reads a script of the reference implementation of IPC and the meshes it names, and says the same as a
/// scene, sizes worked out as the reference does. Paths as in SceneImporter. Throws
/// InputError that names file, line and keyword.
ImportedScene import_ipc_script(const std::filesystem::path& file, const ImportOptions& options);

}  // namespace apart
