#pragma once
// What the makers of bodies share.
#include <apart/bodies/body.hpp>

namespace apart {

/// A body at rest whose nodes are the points of its mesh. Contact does not see it yet.
Body body_of_nodes(std::string name, BodyKind kind, Mesh mesh);

/// Sets the faces, segments and points contact sees, from the mesh's own cells.
void set_surface(Body& body);

}  // namespace apart
