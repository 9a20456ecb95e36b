#pragma once
#include <apart/io/located_json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace apart {

/// A scene made from a script of the reference implementation of IPC.
struct ImportedScene {
  JsonValue scene;                 ///< values know the script and the line they come from
  std::vector<std::string> notes;  ///< one line each: what has no effect here, and what differs
};

/// Reads a script and the meshes it names, and says the same as a scene: everything explicit, sizes worked
/// out as the reference does. Paths are written relative to `directory` where the two share more than the
/// root, absolute otherwise or if `directory` is empty. Throws InputError that names file, line and keyword.
ImportedScene import_ipc_script(const std::filesystem::path& file,
                                const std::filesystem::path& directory = {});

/// The scene as text: what fits a line stays on one.
std::string readable_text(const JsonValue& scene);

}  // namespace apart
