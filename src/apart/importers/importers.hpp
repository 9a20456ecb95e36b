#pragma once
// Scenes of other programs, by format.
#include <apart/scene/scene_file.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace apart {

/// A scene made from a file of another program.
struct ImportedScene {
  SceneDescription scene;          ///< items know the file and the line they come from
  std::vector<std::string> notes;  ///< one line each: what has no effect here, and what differs
};

struct ImportOptions {
  /// Paths are written relative to it where the two share more than the root, absolute otherwise or if it is
  /// empty.
  std::filesystem::path directory = {};
  /// Values as the format documents them, in SI units, instead of what the other program makes of them.
  bool physical = false;
};

/// One format of another program.
struct SceneImporter {
  std::string_view name;                             ///< for messages, with the extension
  bool (*reads)(const std::filesystem::path& file);  ///< whether a file is of this format
  /// Throws InputError that names file and line.
  ImportedScene (*import)(const std::filesystem::path& file, const ImportOptions& options);
  bool has_conventions = false;  ///< ImportOptions::physical makes a difference
};

/// All formats; a new one is a folder beside this file and a row here.
std::span<const SceneImporter> importers();

/// The importer of a file; null if it has none of these formats.
const SceneImporter* importer_of(const std::filesystem::path& file);

/// The scene of a file in any format, with `overrides` as in read_scene.
SceneFile open_scene_file(const std::filesystem::path& file, std::span<const std::string> overrides = {});

/// The file of that name or, if there is none, the built-in example. Throws InputError that names the nearest
/// example.
SceneFile open_scene(const std::string& file_or_example, std::span<const std::string> overrides = {});

}  // namespace apart
