#pragma once
// The JSON of a PolyFEM scene, put together from its parts. For the files of this folder only.
#include <apart/io/located_json.hpp>

#include <filesystem>

namespace apart::polyfem {

/// JSON as PolyFEM accepts it: a comma may stand before a closing bracket.
JsonValue read_lenient(const std::filesystem::path& file);

/// The scene in its present form: what it names as `common` comes first (recursively), the file is merged
/// over it (RFC 7386), then `patch` is applied (RFC 6902). Values keep the file and line they come from.
/// Scenes of the old form are rewritten.
JsonValue read_document(const std::filesystem::path& file);

/// Whether JSON looks like a scene of PolyFEM.
bool is_scene(const JsonValue& value);

}  // namespace apart::polyfem
