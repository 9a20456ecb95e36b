#pragma once
#include <nlohmann/json_fwd.hpp>

#include <string>

namespace apart {

/// The scene format as JSON Schema (draft 7), made from the catalog.
nlohmann::ordered_json scene_schema();

/// The reference part of docs/scene-format.md: every group, key and choice of the catalog as Markdown tables.
std::string scene_reference();

}  // namespace apart
