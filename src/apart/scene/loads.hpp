#pragma once
#include <apart/bodies/body.hpp>
#include <apart/scene/script_builder.hpp>

namespace apart {

/// Throws InputError if the load acts on nothing, never, or with a formula that is not finite.
void add_load(Body& body, const LoadDescription& load, const PlacedMesh& placed, const Clock& clock);

}  // namespace apart
