#pragma once
// Shared by the makers of bodies.
#include <apart/bodies/body_shape.hpp>

namespace apart {

/// A body at rest whose nodes are the points of its mesh. Contact does not see it yet.
Body body_of_nodes(std::string name, BodyKind kind, Mesh mesh);

/// Throws InputError unless a mesh that a body is remade of has cells of one kind only.
enum class CellKind { tetrahedra, faces, edges };
void check_only(CellKind kind, const std::string& name, const Mesh& mesh);

/// Sets the faces, segments and points contact sees, from the mesh's own cells.
void set_surface(Body& body);

}  // namespace apart
