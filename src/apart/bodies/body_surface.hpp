#pragma once
#include <apart/bodies/body.hpp>

namespace apart {

/// Sets the faces, segments and points contact sees, from the mesh's own cells. For makers of bodies.
void set_surface(Body& body);

}  // namespace apart
