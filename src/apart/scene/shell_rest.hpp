#pragma once
// Shells as described, and the placing of meshes that their rest shapes share with other bodies.
#include <apart/bodies/body_mesh.hpp>
#include <apart/scene/body_description.hpp>

namespace apart {

/// How messages about the mesh of `whose` ("body 'sheet'") begin.
MeshPlace mesh_place(const MeshDescription& mesh, const std::string& whose);

/// Makes a mesh; an error without a place gets that of the description.
MeshResult make_mesh_at(const MeshDescription& mesh, const MeshRequest& request);

/// The mesh scaled, rotated and moved.
Mesh transformed(const Mesh& mesh, const TransformDescription& transform);

ShellSubstance make_shell_substance(const ShellDescription& body);

/// `mesh`: as placed. Throws InputError if the rest shape does not fit it.
ShellRest make_shell_rest(const ShellDescription& body, const std::string& name, const Mesh& mesh);

}  // namespace apart
