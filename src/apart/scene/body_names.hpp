#pragma once
#include <apart/scene/validation.hpp>

namespace apart {

/// Adds a problem for every name in contact.pairs, attachments and probes that no body of the scene has.
/// Needs no meshes, and passes over whatever is not as the format says: others report that.
void add_unknown_bodies(const JsonValue& scene, Problems& problems);

}  // namespace apart
