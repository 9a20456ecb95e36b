#pragma once
#include <apart/scene/scene_file.hpp>

namespace apart {

/// What the argument SCENE names: a file, a built-in example, or with "-" the text on standard input, whose
/// relative paths start in the current directory.
SceneFile open_scene_argument(const std::string& scene, std::span<const std::string> overrides);

inline constexpr const char* scene_argument_help =
    "Scene file, name of a built-in example, or - for standard input";

}  // namespace apart
