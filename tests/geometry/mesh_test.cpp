#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <gtest/gtest.h>

namespace apart::test {
namespace {

TEST(BoundaryFaces, OfOneTetrahedronFaceOutward) {
  Mesh mesh;
  mesh.points.resize(3, 4);
  mesh.points << 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1;
  mesh.tetrahedra.resize(4, 1);
  mesh.tetrahedra << 0, 1, 2, 3;
  mesh.faces = boundary_faces(mesh.tetrahedra);
  EXPECT_EQ(mesh.faces.cols(), 4);
  EXPECT_TRUE(is_closed_surface(mesh));
  EXPECT_DOUBLE_EQ(enclosed_volume(mesh), 1.0 / 6);
  EXPECT_DOUBLE_EQ(
      signed_volume6(mesh.points.col(0), mesh.points.col(1), mesh.points.col(2), mesh.points.col(3)), 1);
}

TEST(BoundaryFaces, LeaveOutWhatTwoTetrahedraShare) {
  const Mesh box = generate::box({1, 1, 1}, {3, 4, 5});
  EXPECT_EQ(boundary_faces(box.tetrahedra).cols(), 4 * (3 * 4 + 4 * 5 + 5 * 3));
  EXPECT_EQ(boundary_faces(Tetrahedra(4, 0)).cols(), 0);
}

TEST(EdgesOf, AreDistinctAndSorted) {
  Faces faces(3, 2);
  faces << 2, 2, 0, 1, 1, 3;
  Edges expected(2, 5);
  expected << 0, 0, 1, 1, 2, 1, 2, 2, 3, 3;
  EXPECT_EQ(edges_of(faces), expected);
}

}  // namespace
}  // namespace apart::test
