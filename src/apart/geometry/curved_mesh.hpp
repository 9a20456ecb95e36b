#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/geometry/mesh.hpp>

namespace apart {

/// The tetrahedra of a mesh as cells of a degree above one, straight: with points between the corners, which
/// keep their numbers. Points of triangles, segments and groups are the corners as before.
Mesh lifted(const Mesh& mesh, int degree);

/// Moves the points of curved cells that lie on chosen faces of the boundary to a surface. `is_on`: whether
/// the face with these three corners is on the surface. `nearest`: the place of a point on it. Corners stay,
/// and so do points inside.
void curve_boundary(Mesh& mesh, FunctionRef<bool(const std::array<Vector3, 3>&)> is_on,
                    FunctionRef<Vector3(const Vector3&)> nearest);

/// Moves the points of curved cells on the boundary to a surface, corners too, and the others along with
/// them.
void curve_to(Mesh& mesh, FunctionRef<Vector3(const Vector3&)> nearest);

/// Moves the points inside of curved cells as smoothly as possible with those of the boundary: their
/// displacements from `before` satisfy Laplace's equation. Moved boundary points alone turn thin cells inside
/// out.
void blend_inside(Mesh& mesh, const Matrix3X& before);

}  // namespace apart
