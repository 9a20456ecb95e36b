#pragma once
// Checks of meshes from outside, so that the rest of the program can rely on them.
#include <apart/geometry/mesh.hpp>

#include <optional>
#include <string>
#include <vector>

namespace apart {

/// Each throws InputError, one sentence beginning with `where` (a file or a place in a scene), naming the
/// first cell that is wrong, its points (counted from 0) and what to do. All require finite coordinates,
/// indices in range, no cell with a repeated point, no cell twice, and at least one cell of their kind; cells
/// of other kinds are not checked. Volume: also no flat or inverted tetrahedron (see orient_tetrahedra;
/// curved ones must be positive everywhere, and of one degree) and no face with more than two tetrahedra.
void validate_volume(const Mesh& mesh, const std::string& where);
/// Triangles: also none of zero area. Boundaries and edges with many triangles are allowed.
void validate_surface(const Mesh& mesh, const std::string& where);
/// Segments: also none of zero length.
void validate_segments(const Mesh& mesh, const std::string& where);
/// Free points: distinct indices; two points may not coincide.
void validate_points(const Mesh& mesh, const std::string& where);

/// Reorients inverted tetrahedra by swapping their last two points; returns how many. Flat ones stay as they
/// are.
Index orient_tetrahedra(Mesh& mesh);

/// The same cells on only the points they use, in their old order. Groups lose the points that are dropped.
Mesh remove_unreferenced_points(const Mesh& mesh);

/// Whether the triangles bound a volume: there are some, and every edge has exactly two, running through it
/// in opposite directions.
bool is_closed_surface(const Mesh& mesh);

/// For each triangle whether its connected piece bounds a volume.
std::vector<char> faces_of_closed_pieces(const Mesh& mesh);
/// Orients closed pieces of the surface outward; one inside another that faces inward is a cavity and stays.
void orient_closed_pieces(Mesh& mesh);

/// An edge that keeps the triangles from being a closed surface, for messages.
struct OpenEdge {
  int a, b;               ///< its points
  int forward, backward;  ///< numbers of triangles that run from a to b and from b to a; not both 1
};
std::optional<OpenEdge> find_open_edge(const Mesh& mesh);

/// Every point x becomes linear · x + translation. A reflection reorients the cells, so that tetrahedra stay
/// positive and surfaces face outward.
Mesh transformed(const Mesh& mesh, const Matrix3& linear, const Vector3& translation);

/// Volume of all tetrahedra [m³], inverted ones counted negative.
double volume_of(const Mesh& mesh);
/// Volume inside a closed surface [m³], positive if its triangles face outward.
double enclosed_volume(const Mesh& mesh);

}  // namespace apart
