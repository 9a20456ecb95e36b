#pragma once
// What each kind of body needs of a mesh. Each function takes a mesh that was read or generated and returns
// one from which such a body can be made: cells of other kinds and points of no cell are dropped, cells are
// oriented and checked. Throws InputError with the problem and a remedy.
#include <apart/geometry/mesh.hpp>

#include <string>

namespace apart {

/// How messages begin: about the mesh as a whole, and about its cells.
struct MeshPlace {
  std::string mesh, cells;
  bool fillable = false;  ///< a closed surface can be filled with tetrahedra on request
};

Mesh volume_mesh(Mesh mesh, const MeshPlace& place);  ///< tetrahedra
Mesh affine_mesh(Mesh mesh, const MeshPlace& place);  ///< tetrahedra, or a closed surface facing outward
/// Any cells: tetrahedra alone, or triangles, segments and points. Closed pieces face outward, cavities
/// inward.
Mesh rigid_mesh(Mesh mesh, const MeshPlace& place);
/// Triangles in a plane z = const, counter-clockwise seen from +z, which do not overlap their neighbours.
/// What rounding moved out of the plane is moved back.
Mesh planar_mesh(Mesh mesh, const MeshPlace& place);
Mesh shell_mesh(Mesh mesh, const MeshPlace& place);      ///< triangles; of tetrahedra the boundary
Mesh rod_mesh(Mesh mesh, const MeshPlace& place);        ///< segments
Mesh particles_mesh(Mesh mesh, const MeshPlace& place);  ///< points, whatever the cells
Mesh obstacle_mesh(Mesh mesh, const MeshPlace& place);   ///< triangles, segments and points

/// Throws InputError, beginning with `where`, unless the mesh is one that planar_mesh returns.
void check_planar(const Mesh& mesh, const std::string& where);

/// After the points of a valid mesh have moved.
void validate_again(const Mesh& mesh, const MeshPlace& place);

}  // namespace apart
