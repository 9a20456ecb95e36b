#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/geometry/mesh.hpp>

namespace apart {

/// The tetrahedra of a mesh as cells of a degree above one, straight: with points between the corners, which
/// keep their numbers. Points of triangles, segments and groups are the corners as before.
Mesh lifted(const Mesh& mesh, int degree);

/// Moves the points of curved cells between their corners. `place`: where a point belongs, from the corners
/// of its cell and their weights. It must depend on corners with weights other than zero alone, so that cells
/// agree on points that they share.
void place_points(Mesh& mesh,
                  FunctionRef<Vector3(const std::array<Vector3, 4>& corners, const Vector4& weights)> place);

/// Moves the points of curved cells of a ball around the origin between their corners: to distances from it
/// that are means of those of the corners, so that every shell is round.
void curve_ball(Mesh& mesh);

/// Moves the points of curved cells on the boundary to a surface, corners too, and the others along with
/// them.
void curve_to(Mesh& mesh, FunctionRef<Vector3(const Vector3&)> nearest);

/// Moves the points inside of curved cells as smoothly as possible with those of the boundary: their
/// displacements from `before` satisfy Laplace's equation. Moved boundary points alone turn thin cells inside
/// out.
void blend_inside(Mesh& mesh, const Matrix3X& before);

}  // namespace apart
