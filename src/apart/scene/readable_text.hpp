#pragma once
#include <apart/io/located_json.hpp>

#include <string>

namespace apart {

/// The value on one line.
std::string flat_text(const JsonValue& value);

/// A scene as readable text: what fits on a line stays on one.
std::string readable_text(const JsonValue& scene);

}  // namespace apart
