#include <gtest/gtest.h>
#include <apart/core/diagnostics.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/geometry/weld.hpp>

#include <random>

namespace apart::test {
namespace {

/// Every cell has points of its own, each within `noise` of where it was.
Mesh taken_apart(const Mesh& mesh, double noise) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> number(-noise / 2, noise / 2);
  Mesh loose;
  const auto own = [&](const auto& cells, auto& to) {
    to.resize(cells.rows(), cells.cols());
    const Index first = loose.point_count();
    loose.points.conservativeResize(3, first + Index(cells.size()));
    for (Index i = 0; i < cells.size(); ++i) {
      loose.points.col(first + i) =
          mesh.points.col(cells.data()[i]) + Vector3(number(random), number(random), number(random));
      to.data()[i] = first + i;
    }
  };
  own(mesh.tetrahedra, loose.tetrahedra);
  own(mesh.faces, loose.faces);
  own(mesh.edges, loose.edges);
  return loose;
}

TEST(Weld, PutsTogetherWhatWasTakenApart) {
  for (const double noise : {0.0, 1e-9}) {
    const Mesh ball = generate::sphere(1, 4);
    Mesh loose = taken_apart(ball, noise);
    const Index before = loose.point_count();
    EXPECT_EQ(weld_points(loose, 1e-7), before - ball.point_count());
    EXPECT_EQ(loose.point_count(), ball.point_count());
    EXPECT_NEAR(volume_of(loose), volume_of(ball), 1e-7);
    EXPECT_EQ(boundary_faces(loose.tetrahedra).cols(), boundary_faces(ball.tetrahedra).cols());
    EXPECT_NO_THROW(validate_volume(loose, "here"));
  }
}

TEST(Weld, KeepsWhatIsFartherApartAndCellsThatAreSmaller) {
  Mesh mesh;
  mesh.points.resize(3, 5);
  mesh.points << 0, 1, 2, 1e-3, 1e-8,  //
      0, 0, 0, 0, 0,                   //
      0, 0, 0, 0, 0;
  mesh.edges.resize(2, 3);
  mesh.edges << 0, 1, 0,  //
      1, 2, 4;
  mesh.vertices = Eigen::VectorXi::Constant(1, 3);
  const Mesh before = mesh;
  EXPECT_EQ(weld_points(mesh, 1e-6), 0) << "the segment from 0 to 4 would collapse, 3 is far";
  EXPECT_EQ(mesh.points, before.points);
  EXPECT_EQ(weld_points(mesh, 1e-2), 1) << "3 lies on 0";
  EXPECT_EQ(mesh.point_count(), 4);
  EXPECT_EQ(mesh.edges.col(2), Eigen::Vector2i(0, 3));
}

TEST(Weld, GroupsAndTextureFollow) {
  Mesh mesh;
  mesh.points.resize(3, 6);
  mesh.points << 0, 1, 0, 1, 1, 0,  //
      0, 0, 1, 0, 1, 1,             //
      0, 0, 0, 0, 0, 0;
  mesh.faces.resize(3, 2);
  mesh.faces << 0, 3, 1, 4, 2, 5;
  mesh.face_texture = Eigen::Matrix<double, 6, Eigen::Dynamic>::Random(6, 2);
  mesh.groups["all"] = {{0, 1, 2, 3, 4, 5}, {}, {{0, 1, 2}, {3, 4, 5}}};
  const auto texture = mesh.face_texture;
  EXPECT_EQ(weld_points(mesh, 1e-9), 2);
  EXPECT_EQ(mesh.faces.col(0), Eigen::Vector3i(0, 1, 2));
  EXPECT_EQ(mesh.faces.col(1), Eigen::Vector3i(1, 3, 2));
  EXPECT_EQ(mesh.face_texture, texture);
  EXPECT_EQ(mesh.groups["all"].points, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(mesh.groups["all"].triangles, (std::vector<std::array<int, 3>>{{0, 1, 2}, {1, 2, 3}}));
}

TEST(Weld, TakesTimeInProportionToThePoints) {
  Mesh sheet = generate::grid(1, 1, 400, 400);  // 320,000 triangles
  const double begin = process_cpu_seconds();
  EXPECT_EQ(weld_points(sheet, 1e-7), 0);
  EXPECT_LT(process_cpu_seconds() - begin, 2.0);
}

}  // namespace
}  // namespace apart::test
