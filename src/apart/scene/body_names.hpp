#pragma once
#include <apart/scene/scene_description.hpp>
#include <apart/scene/validation.hpp>

namespace apart {

/// What a copy of an array is called, counted from 0, and whether a name is that of any of them.
std::string copy_name(const std::string& array, std::size_t number);
bool is_copy(const std::string& name, const std::string& array);

/// Names in pairs, attachments and probes that are no body's.
void add_unknown_bodies(const SceneDescription& scene, Problems& problems);
/// The same for a file that may have other mistakes, so that all are reported together.
void add_unknown_bodies(const JsonValue& scene, Problems& problems);

}  // namespace apart
