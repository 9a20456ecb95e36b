#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/geometry/mesh.hpp>

namespace apart {

/// The tetrahedra of a mesh as cells of a degree above one, straight: with points between the corners, which
/// keep their numbers. Points of triangles, segments and groups are the corners as before.
Mesh lifted(const Mesh& mesh, int degree);

/// A point of a triangle between its corners.
struct FacePoint {
  Vector3 x;                       ///< where it is
  std::array<Vector3, 3> corners;  ///< of the triangle
  Vector3 weights;                 ///< of the corners, before it was moved
};

/// Moves the points of curved cells that lie on chosen faces of the boundary to a surface. `is_on`: whether
/// the face with these three corners is on the surface. `place`: where a point of a face belongs. Corners on
/// the boundary stay; points inside move along.
void curve_boundary(Mesh& mesh, FunctionRef<bool(const std::array<Vector3, 3>&)> is_on,
                    FunctionRef<Vector3(const FacePoint&)> place);

/// Moves the points of curved cells between their corners to where they are equidistant in other coordinates,
/// in which the shape is straight. `straight`: the coordinates of a corner; of several (an angle has many
/// values) those that belong to the cell of which the first corner has the coordinates `first`. `bent`: the
/// way back.
void curve_along(Mesh& mesh, FunctionRef<Vector3(const Vector3& x, const Vector3* first)> straight,
                 FunctionRef<Vector3(const Vector3&)> bent);

/// Moves the points of curved cells on the boundary to a surface, corners too, and the others along with
/// them.
void curve_to(Mesh& mesh, FunctionRef<Vector3(const Vector3&)> nearest);

/// Moves the points inside of curved cells as smoothly as possible with those of the boundary: their
/// displacements from `before` satisfy Laplace's equation. Moved boundary points alone turn thin cells inside
/// out.
void blend_inside(Mesh& mesh, const Matrix3X& before);

}  // namespace apart
