#pragma once
#include <span>
#include <string_view>

namespace apart {

/// A scene that is part of the program: a file of examples/.
struct Example {
  std::string_view name;  ///< the file's name without ".json"
  std::string_view text;  ///< the file's content
};

/// All examples, the default one first, the others by name. Generated when the program is built.
std::span<const Example> examples();

/// Throws InputError that suggests the nearest name if there is none of that name.
const Example& find_example(std::string_view name);

}  // namespace apart
