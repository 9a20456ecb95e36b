#pragma once
#include <apart/bodies/body.hpp>
#include <apart/io/located_json.hpp>

namespace apart {

/// Adds the load that an object of the catalog's group "load" describes. Throws InputError if it acts on
/// nothing.
void add_load(Body& body, const LocatedJson& load, bool renumbered);

}  // namespace apart
