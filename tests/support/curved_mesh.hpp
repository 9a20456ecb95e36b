#pragma once
#include <apart/geometry/curved_mesh.hpp>

#include <functional>

namespace apart::test {

/// The tetrahedra of a mesh as cells of a degree above one, all their points moved by a map.
inline Mesh curved(
    const Mesh& mesh, int degree,
    const std::function<Vector3(const Vector3&)>& moved = [](const Vector3& x) { return x; }) {
  Mesh result = lifted(mesh, degree);
  for (Index i = 0; i < result.point_count(); ++i) result.points.col(i) = moved(result.points.col(i));
  return result;
}

}  // namespace apart::test
