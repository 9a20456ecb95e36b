#pragma once
#include <apart/geometry/mesh.hpp>
#include <apart/scene/body_description.hpp>

#include <string>
#include <vector>

namespace apart {

/// "(1, 2, 3)", for messages.
std::string text_of(const Vector3& v);

/// What the selections of a body choose from: its mesh as the scene places it, also if its points were moved
/// from there (`moved_points`), so that a move never changes what is chosen.
struct PlacedMesh {
  const Mesh& mesh;
  bool renumbered = false;  ///< it had points of no cell, or joined with others, which were left out
};

/// What the set is called that a selection makes: the group of the mesh, or the selection's place in the
/// scene.
std::string set_name(const SelectionDescription& selection);

/// The points [m, world] that a selection chooses, ascending. Boundaries belong
/// to boxes, balls and planes, with a slack of 1e-9 of the points' extent so that rounding does not matter.
/// Throws InputError if nothing is chosen, or if points are counted that are not as the user sees them.
std::vector<Index> select_points(const SelectionDescription& selection, const PlacedMesh& placed);

/// The tetrahedra it chooses, ascending: those of a group of the mesh, otherwise those all of whose points
/// are chosen. Throws InputError if there are none.
std::vector<Index> select_tetrahedra(const SelectionDescription& selection, const PlacedMesh& placed);

/// The triangles of `faces` it chooses, ascending, perhaps none: those of a group of the mesh that has
/// triangles, otherwise those all of whose corners are chosen.
std::vector<Index> select_triangles(const SelectionDescription& selection, const PlacedMesh& placed,
                                    const Faces& faces);

}  // namespace apart
