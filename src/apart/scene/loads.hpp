#pragma once
#include <apart/bodies/body.hpp>
#include <apart/scene/prescriber.hpp>

namespace apart {

/// Adds the load that an object of the catalog's group "load" describes. Throws InputError if it acts on
/// nothing, never, or with a formula that is not finite.
void add_load(Body& body, const LocatedJson& load, const PlacedMesh& placed, const Clock& clock);

}  // namespace apart
