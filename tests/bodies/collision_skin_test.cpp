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

CellSubstances one_substance(const Mesh& mesh) {
  return {{{NeoHookean{lame_parameters(1e5, 0.3)}, 1000}},
          std::vector<Index>(std::size_t(mesh.cell_count()), 0)};
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

TEST(CollisionSkin, OfAVolumeOfALowerDegreeThanItsMeshIsWhereItWasGiven) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  Matrix3X points(3, 40);
  for (Index i = 0; i < points.cols(); ++i)
    points.col(i) = bend(Vector3(uniform(random), uniform(random), uniform(random)));
  for (int p = 1; p <= 3; ++p) {
    const Mesh mesh = curved(generate::box({1, 1, 1}, {2, 1, 1}), 4, bend);
    const Body body = make_volume("body", mesh, one_substance(mesh), LagrangeOptions{.degree = p});
    const CollisionSkin skin = with_collision_skin(body, surface_of_points(points), "skin");
    const LinearMap& map = skin.body.point_map;
    EXPECT_LT((map.positions(skin.body.nodes).rightCols(points.cols()) - points).cwiseAbs().maxCoeff(),
              1e-12);
    // All points of the cells are kept, and those of the surface move with them.
    EXPECT_EQ(skin.body.mesh.curved[0].degree, 4);
    const Matrix3X moved = map.positions(skin.body.nodes.colwise() + Vector3(1, 2, 3));
    EXPECT_LT(((moved.colwise() - Vector3(1, 2, 3)) - skin.body.mesh.points).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_EQ(skin.body.surface_faces(0, 0), skin.body.mesh.curved[0].points.maxCoeff() + 1);
  }
}

TEST(CollisionSkin, OfAffineAndRigidBodiesMovesAsTheyDo) {
  const Mesh box = generate::box({1, 0.5, 0.7}, {1, 1, 1});
  Mesh surface = generate::sphere(0.6, 3, generate::Content::surface);
  const Matrix3 turn = Eigen::AngleAxisd(0.7, Vector3(1, 2, 3).normalized()).toRotationMatrix();
  for (const Body& body : {make_affine("body", box, Orthogonality{1e8}, 1000),
                           make_rigid("body", box, mass_distribution(box, 1000))}) {
    const CollisionSkin skin = with_collision_skin(body, surface, "skin");
    EXPECT_EQ(skin.body.nodes, body.nodes);
    EXPECT_EQ(skin.body.mesh.tetrahedra.cols(), 0);
    const Matrix3X moved = skin.body.point_map.positions((turn * body.nodes).colwise() + Vector3(1, 2, 3));
    EXPECT_LT((moved - ((turn * surface.points).colwise() + Vector3(1, 2, 3))).cwiseAbs().maxCoeff(), 1e-12);
    Mesh open = surface;
    open.faces.conservativeResize(3, open.faces.cols() - 1);
    EXPECT_NE(message_of([&] { with_collision_skin(body, open, "skin"); }).find("skin: is open"),
              std::string::npos);
    Mesh far = surface;
    far.points.array() += 40;
    EXPECT_NE(message_of([&] { with_collision_skin(body, far, "skin"); }).find("times as far"),
              std::string::npos);
  }
}

/// Rows of weights of the points of a body that are no points of its cells.
std::vector<std::vector<Influence>> rows_of(const Body& body, Index count) {
  std::vector<std::vector<Influence>> rows;
  for (Index v = body.point_map.vertex_count() - count; v < body.point_map.vertex_count(); ++v) {
    const auto row = body.point_map.influences(v);
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

TEST(CollisionSkin, WithGivenWeightsIsAcceptedIfTheyReproduceIt) {
  const Mesh surface = generate::sphere(0.3, 2, generate::Content::surface);
  for (const auto& [k, p] : {std::pair(1, 1), {1, 2}, {2, 2}, {3, 3}, {4, 2}}) {
    const Mesh box = generate::box({1, 1, 1}, {1, 1, 1});
    const Mesh mesh = k == 1 ? box : curved(box, k, bend);
    const Body body = p == 1 ? make_volume("body", mesh, one_substance(mesh), MassKind::lumped)
                             : make_volume("body", mesh, one_substance(mesh), LagrangeOptions{.degree = p});
    const CollisionSkin found = with_collision_skin(body, surface, "skin");
    auto rows = rows_of(found.body, surface.point_count());
    const CollisionSkin given = with_collision_weights(body, surface, rows, "skin");
    EXPECT_LT((given.body.mesh.points - found.body.mesh.points).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_EQ(given.body.surface_faces, found.body.surface_faces);
    EXPECT_NEAR(given.growth, found.growth, 1e-12);
    std::swap(rows[0], rows[5]);
    const std::string message = message_of([&] { with_collision_weights(body, surface, rows, "skin"); });
    EXPECT_NE(message.find("skin: the weights put point 0 to"), std::string::npos) << message;
    rows[0][0].weight += 0.5;
    EXPECT_NE(
        message_of([&] { with_collision_weights(body, surface, rows, "skin"); }).find("must add up to 1"),
        std::string::npos);
  }
}

TEST(CollisionSkin, WithGivenWeightsOfPointsOutsideMustReproduceThemAsWell) {
  // Displacements of degree 2 leave a part of a shape of degree 4, and outside of the cells far more of it.
  const Mesh mesh = curved(generate::box({1, 1, 1}, {1, 1, 1}), 4, bend);
  const Body body = make_volume("body", mesh, one_substance(mesh), LagrangeOptions{.degree = 2});
  const Mesh surface = generate::sphere(0.95, 2, generate::Content::surface);
  const CollisionSkin found = with_collision_skin(body, surface, "skin");
  EXPECT_GT(found.growth, 3);
  const auto rows = rows_of(found.body, surface.point_count());
  EXPECT_NO_THROW(with_collision_weights(body, surface, rows, "skin"));
  const auto point = std::size_t(found.growth_point);
  Mesh moved = surface;
  moved.points.col(found.growth_point) += Vector3(2e-3, 0, 0);
  EXPECT_NE(
      message_of([&] { with_collision_weights(body, moved, rows, "skin"); }).find("the weights put point"),
      std::string::npos);
  // Weights that add up to one and are no values of polynomials.
  auto others = rows;
  others[point][0].weight += 0.01;
  others[point][1].weight -= 0.01;
  EXPECT_NE(
      message_of([&] { with_collision_weights(body, surface, others, "skin"); }).find("no place of a cell"),
      std::string::npos);
}

TEST(CollisionSkin, CountsNodesAsFilesOfWeightsDo) {
  // Columns are points of the mesh if these are the nodes.
  const Mesh box = generate::box({1, 1, 1}, {1, 1, 1});
  for (int degree = 2; degree <= 4; ++degree) {
    const Mesh mesh = curved(box, degree, bend);
    const Body body = make_volume("body", mesh, one_substance(mesh), LagrangeOptions{.degree = degree});
    const std::vector<Index> nodes = nodes_in_order(body, mesh, {}, "weights");
    ASSERT_EQ(Index(nodes.size()), mesh.point_count());
    for (Index i = 0; i < mesh.point_count(); ++i)
      EXPECT_LT((body.nodes.col(nodes[std::size_t(i)]) - mesh.points.col(i)).norm(), 1e-14);
  }
  // Otherwise corners, then the nodes of edges from end to end, then those of faces.
  const Body body = make_volume("body", box, one_substance(box), LagrangeOptions{.degree = 3});
  const auto t = box.tetrahedra.col(0);
  NodeOrder order;
  order.corners = {t[2], t[0]};
  order.edges = {{t[0], t[1]}, {t[3], t[1]}};
  order.faces = {{t[0], t[1], t[2]}};
  const std::vector<Index> nodes = nodes_in_order(body, box, order, "weights");
  ASSERT_EQ(nodes.size(), 7u);
  const auto expect_at = [&](std::size_t i, const Vector3& x) {
    EXPECT_LT((body.nodes.col(nodes[i]) - x).norm(), 1e-14) << i;
  };
  const auto at = [&](int k) -> Vector3 { return box.points.col(t[k]); };
  expect_at(0, at(2));
  expect_at(1, at(0));
  expect_at(2, (2 * at(0) + at(1)) / 3);
  expect_at(3, (at(0) + 2 * at(1)) / 3);
  expect_at(4, (2 * at(3) + at(1)) / 3);
  expect_at(5, (at(3) + 2 * at(1)) / 3);
  expect_at(6, (at(0) + at(1) + at(2)) / 3);
  order.edges = {{900, 901}};
  EXPECT_NE(message_of([&] { nodes_in_order(body, box, order, "weights"); }).find("the mesh does not have"),
            std::string::npos);
  EXPECT_NE(message_of([&] { nodes_in_order(body, box, {}, "weights"); }).find("ordered_edges"),
            std::string::npos);
}

}  // namespace
}  // namespace apart::test
