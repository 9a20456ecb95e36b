#include <apart/verify/surface_of.hpp>

#include <algorithm>
#include <array>
#include <map>

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

/// The edges that belong to one triangle only. Not geometry's boundary_edges, for the same reason.
Edges outer_edges(const Faces& triangles) {
  std::map<std::pair<int, int>, int> count;
  for (const auto& t : triangles.colwise())
    for (int k = 0; k < 3; ++k) ++count[std::minmax(t[k], t[(k + 1) % 3])];
  std::erase_if(count, [](const auto& edge) { return edge.second > 1; });
  Edges edges(2, Index(count.size()));
  Index e = 0;
  for (const auto& [ends, times] : count) edges.col(e++) << ends.first, ends.second;
  return edges;
}

}  // namespace

exact::Surface surface_of(const Frame& frame) {
  const Mesh& mesh = frame.mesh;
  std::vector<Index> planar, others;
  for (Index f = 0; f < mesh.faces.cols(); ++f)
    (frame.bodies[std::size_t(frame.point_body[mesh.faces(0, f)])].is_planar() ? planar : others)
        .push_back(f);
  const Faces outer = outer_triangles(mesh.tetrahedra), surfaces = mesh.faces(Eigen::all, others);
  Faces faces(3, outer.cols() + surfaces.cols());
  faces << outer, surfaces;
  const Edges boundary = outer_edges(mesh.faces(Eigen::all, planar));
  Edges segments(2, mesh.edges.cols() + boundary.cols());
  segments << mesh.edges, boundary;
  return exact::surface(mesh.point_count(), faces, segments, mesh.vertices);
}

}  // namespace apart::verify
