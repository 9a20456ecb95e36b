#include <apart/verify/surface_of.hpp>

#include <algorithm>
#include <array>

namespace apart::verify {

namespace {

/// The triangles that belong to one tetrahedron only, seen counter-clockwise from outside. Not geometry's
/// boundary_faces: the solver gets its surface from there, and a triangle forgotten there must not be
/// forgotten here.
Faces outer_triangles(const Tetrahedra& tetrahedra) {
  // Opposite each corner, facing away from it.
  constexpr int sides[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  struct Triangle {
    std::array<int, 3> corners, sorted;
  };
  std::vector<Triangle> triangles;
  triangles.reserve(4 * tetrahedra.cols());
  for (Index t = 0; t < tetrahedra.cols(); ++t)
    for (const auto& side : sides) {
      Triangle triangle;
      for (int k = 0; k < 3; ++k) triangle.corners[std::size_t(k)] = tetrahedra(side[k], t);
      triangle.sorted = triangle.corners;
      std::sort(triangle.sorted.begin(), triangle.sorted.end());
      triangles.push_back(triangle);
    }
  std::sort(triangles.begin(), triangles.end(),
            [](const Triangle& a, const Triangle& b) { return a.sorted < b.sorted; });
  Faces faces(3, Index(triangles.size()));
  Index outer = 0;
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    const bool again = (i > 0 && triangles[i - 1].sorted == triangles[i].sorted) ||
                       (i + 1 < triangles.size() && triangles[i + 1].sorted == triangles[i].sorted);
    if (!again) faces.col(outer++) = Eigen::Vector3i::Map(triangles[i].corners.data());
  }
  faces.conservativeResize(3, outer);
  return faces;
}

}  // namespace

exact::Surface surface_of(const Mesh& mesh) {
  const Faces outer = outer_triangles(mesh.tetrahedra);
  Faces faces(3, outer.cols() + mesh.faces.cols());
  faces << outer, mesh.faces;
  return exact::surface(mesh.point_count(), faces, mesh.edges, mesh.vertices);
}

}  // namespace apart::verify
