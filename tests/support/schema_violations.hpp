#pragma once
#include <apart/io/located_json.hpp>

#include <string>
#include <vector>

namespace apart::test {

/// What the published schema (`scene_schema`) objects to in a scene, by an independent validator: one message
/// per objection. Empty: the scene conforms.
std::vector<std::string> schema_violations(const JsonValue& scene);

}  // namespace apart::test
