#include <apart/bodies/cell_shapes.hpp>
#include <apart/bodies/collision_skin.hpp>
#include <apart/bodies/lagrange_volume.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/curved_mesh.hpp>
#include <support/input_error.hpp>

#include <random>

namespace apart::test {
namespace {

Vector3 bend(const Vector3& x) {
  return {x[0] + 0.1 * x[1] * x[1], x[1] + 0.15 * std::sin(2 * x[0]), x[2] + 0.1 * x[0] * x[1]};
}

Mesh surface_of_points(const Matrix3X& points) {
  Mesh mesh;
  mesh.points = points;
  mesh.faces.resize(3, 1);
  mesh.faces << 0, 1, 2;
  return mesh;
}

TEST(CellShapes, InvertTheirMap) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(-0.2, 1.1);
  for (int degree = 1; degree <= 4; ++degree) {
    const Mesh box = generate::box({1, 1, 1}, {1, 1, 1});
    const CellShapes shapes(degree == 1 ? box : curved(box, degree, bend));
    for (int i = 0; i < 200; ++i) {
      const Index cell = Index(i % shapes.count());
      const Vector3 xi(uniform(random), uniform(random), uniform(random));
      if (Matrix3(shapes.slope(cell, xi)).determinant() <= 0) continue;
      const auto found = shapes.inverse(cell, shapes.place(cell, xi));
      // Around a cell several places may have the same image; inside there is one.
      if (xi.minCoeff() >= 0 && xi.sum() <= 1) {
        ASSERT_TRUE(found);
        EXPECT_LT((*found - xi).norm(), 1e-9) << degree;
      } else if (found) {
        EXPECT_LT((shapes.place(cell, *found) - shapes.place(cell, xi)).norm(), 1e-10);
      }
    }
  }
}

TEST(CollisionSkin, IsWhereItWasGivenAndTurnsWithTheBody) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  Matrix3X places(3, 60);
  for (Index i = 0; i < places.cols(); ++i)
    places.col(i) = Vector3(uniform(random), uniform(random), uniform(random));
  for (int degree = 1; degree <= 4; ++degree) {
    const Mesh mesh = degree == 1 ? generate::box({1, 1, 1}, {2, 1, 1})
                                  : curved(generate::box({1, 1, 1}, {2, 1, 1}), degree, bend);
    Matrix3X points = places;
    if (degree > 1)
      for (Index i = 0; i < points.cols(); ++i) points.col(i) = bend(places.col(i));
    const CellSubstances cells{{{NeoHookean{lame_parameters(1e5, 0.3)}, 1000}},
                               std::vector<Index>(std::size_t(mesh.cell_count()), 0)};
    const Body body = degree == 1 ? make_volume("body", mesh, cells, MassKind::lumped)
                                  : make_volume("body", mesh, cells, LagrangeOptions{.degree = degree});
    const CollisionSkin skin = with_collision_skin(body, surface_of_points(points), "skin");
    const LinearMap& map = skin.body.point_map;
    const Index n = skin.body.node_count();
    EXPECT_LT((map.positions(skin.body.nodes).rightCols(points.cols()) - points).cwiseAbs().maxCoeff(),
              1e-12);
    const Matrix3 turn = Eigen::AngleAxisd(0.7, Vector3(1, 2, 3).normalized()).toRotationMatrix();
    const Matrix3X turned = (turn * skin.body.nodes).colwise() + Vector3(1, 2, 3);
    EXPECT_LT(
        (map.positions(turned).rightCols(points.cols()) - ((turn * points).colwise() + Vector3(1, 2, 3)))
            .cwiseAbs()
            .maxCoeff(),
        1e-12);
    EXPECT_EQ(skin.body.surface_faces(0, 0), n);
    EXPECT_EQ(skin.body.mesh.curved[0].degree, degree);
  }
}

TEST(CollisionSkin, FollowsFromOutsideWithinReasonAndIsRefusedBeyond) {
  const Body body = make_volume("body", generate::box({1, 1, 1}, {2, 2, 2}),
                                NeoHookean{lame_parameters(1e5, 0.3)}, 1000, MassKind::lumped);
  Matrix3X points(3, 3);
  points << 0, 0.1, 0, 0.52, 0.5, 0.4, 0, 0, 0.1;
  const CollisionSkin skin = with_collision_skin(body, surface_of_points(points), "skin");
  EXPECT_EQ(skin.outside, 1);
  EXPECT_EQ(skin.growth_point, 0);
  EXPECT_GT(skin.growth, 1);
  EXPECT_LT(skin.growth, 1.2);
  points(1, 0) = 9;
  const std::string message =
      message_of([&] { with_collision_skin(body, surface_of_points(points), "skin"); });
  EXPECT_NE(message.find("skin: point 0"), std::string::npos) << message;
  EXPECT_NE(message.find("times as far"), std::string::npos) << message;
}

}  // namespace
}  // namespace apart::test
