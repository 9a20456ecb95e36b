#pragma once
#include <apart/scene/scene_description.hpp>

#include <span>
#include <string_view>

namespace apart {

/// An example that can be made in any size: a scene of Rigid IPC, from its generators' numbers.
struct SizedExample {
  std::string_view name;   ///< of the example, in its usual size a file of examples/ if there is one
  std::string_view count;  ///< what the size counts: "stones"
  Index least, usual, most;
  SceneDescription (*make)(Index size);
};
std::span<const SizedExample> sized_examples();

/// Throws InputError if there is no such example, or the size is out of its range.
SceneDescription make_sized_example(std::string_view name, Index size);

}  // namespace apart
