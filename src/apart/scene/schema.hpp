#pragma once
#include <apart/io/located_json.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace apart {

/// The scene format as JSON Schema (draft 7), made from the catalog.
nlohmann::ordered_json scene_schema();

/// What the schema objects to in a scene: one message per objection, with the place. Empty: the scene
/// conforms.
std::vector<std::string> schema_violations(const JsonValue& scene);

/// The reference part of docs/scene-format.md: every group, key and choice of the catalog as Markdown tables.
std::string scene_reference();

}  // namespace apart
