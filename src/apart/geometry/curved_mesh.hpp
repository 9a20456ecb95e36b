#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/geometry/mesh.hpp>

namespace apart {

/// The tetrahedra of a mesh as cells of a degree above one, straight: with points between the corners, which
/// keep their numbers. Points of triangles, segments and groups are the corners as before.
Mesh lifted(const Mesh& mesh, int degree);

/// Moves the points of curved cells that lie on chosen faces of the boundary to a surface. `is_on`: whether
/// the face with these three corners is on the surface. `nearest`: the place of a point on it. Corners stay.
void curve_boundary(Mesh& mesh, FunctionRef<bool(const std::array<Vector3, 3>&)> is_on,
                    FunctionRef<Vector3(const Vector3&)> nearest);

}  // namespace apart
