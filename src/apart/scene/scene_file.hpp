#pragma once
#include <apart/scene/scene_description.hpp>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace apart {

/// A scene as understood: checked against the catalog, every default filled in, every path absolute. Its text
/// read again gives the same scene.
struct SceneFile {
  std::shared_ptr<const JsonValue> json = std::make_shared<const JsonValue>();  ///< never null
  std::string name = {};                                                        ///< the scene's "name"
  std::vector<std::string> notes = {};  ///< of a converted script: what has no effect here, one line each

  LocatedJson top() const { return LocatedJson(*json); }
  std::string text() const { return to_text(*json); }
  SceneDescription description() const { return describe(json); }
  /// The name without what file names cannot hold.
  std::string file_name() const;
};

/// Reads a scene. `overrides` are changes "path=value" applied first, such as contact.dhat=0.002,
/// bodies[0].material.E=1e6 or bodies[ball].velocity=[0,1,0]. Throws InputError that names every
/// problem.
SceneFile read_scene(const std::filesystem::path& file, std::span<const std::string> overrides = {});

/// The unit, as the catalog has it, of the value that one of the overrides of a scene has set; empty if it
/// has none.
std::string_view unit_of_override(const SceneFile& scene, const std::string& change);

/// The same as read_scene for text; `source` stands for the file in messages, and relative paths start at
/// `directory`.
SceneFile parse_scene(std::string_view text, const std::string& source,
                      const std::filesystem::path& directory, std::span<const std::string> overrides = {});

/// The same for JSON that was made: `source` gives the scene its name if it has none.
SceneFile understand_scene(JsonValue root, const std::string& source, const std::filesystem::path& directory,
                           std::span<const std::string> overrides = {});

}  // namespace apart
