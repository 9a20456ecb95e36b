#pragma once
#include <apart/importers/importers.hpp>

#include <filesystem>

namespace apart {

/// Whether a .json file is a fixture of Rigid IPC, or a run that it has saved, by its content.
bool is_rigid_ipc_fixture(const std::filesystem::path& file);

/// Reads a fixture of Rigid IPC and the meshes it names, and converts it to an equivalent scene. Throws
/// InputError that names file, line and path in the fixture.
ImportedScene import_rigid_ipc_fixture(const std::filesystem::path& file, const ImportOptions& options);

}  // namespace apart
