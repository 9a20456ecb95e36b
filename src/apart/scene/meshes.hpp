#pragma once
// Meshes made as described, and put where their bodies are.
#include <apart/bodies/body_mesh.hpp>
#include <apart/scene/body_description.hpp>

namespace apart {

/// Throws InputError that names the place of the description.
MeshResult make_mesh(const MeshDescription& mesh, const MeshRequest& request);

/// The mesh scaled, rotated and moved.
Mesh transformed(const Mesh& mesh, const TransformDescription& transform);

/// How messages about the mesh of `whose` ("body 'sheet'") begin.
MeshPlace mesh_place(const MeshDescription& mesh, const std::string& whose);

}  // namespace apart
