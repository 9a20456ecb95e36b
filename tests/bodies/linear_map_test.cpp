// The contract of LinearMap, for the map of every kind of body.
#include <apart/bodies/body.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>

#include <random>

namespace apart {
namespace {

Matrix3X random(Index n, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  return Matrix3X::NullaryExpr(3, n, [&](Eigen::Index, Eigen::Index) { return normal(engine); });
}

std::vector<Body> bodies() {
  const Mesh box = generate::box({0.2, 0.1, 0.3}, {2, 1, 2});
  const NeoHookean soft{lame_parameters(1e5, 0.4)};
  std::vector<Body> all;
  all.push_back(make_volume("volume", box, soft, 1000, MassKind::lumped));
  all.push_back(make_affine("affine", box, Orthogonality{1e8}, 1000));
  all.push_back(make_obstacle("triangles", generate::grid(1, 1, 2, 2)));
  all.push_back(make_obstacle("segments", generate::segments(1, 3)));
  all.push_back(make_obstacle("points", generate::points({2, 1, 3}, 0.1)));
  return all;
}

TEST(LinearMap, keeps_its_contract_for_every_kind_of_body) {
  for (const Body& b : bodies()) {
    SCOPED_TRACE(b.name);
    const LinearMap& map = b.point_map;
    const Matrix3X q = random(map.node_count(), 1), p = random(map.node_count(), 2),
                   g = random(map.vertex_count(), 3);
    ASSERT_EQ(map.vertex_count(), b.mesh.point_count());
    const double e = 1e-6;
    const Matrix3X change = (map.positions(q + e * p) - map.positions(q - e * p)) / (2 * e);
    const Matrix3X pushed = map.push_forward(p);
    EXPECT_LT((change - pushed).norm(), 1e-8 * pushed.norm());
    const double left = pushed.cwiseProduct(g).sum(), right = map.pull_back(g).cwiseProduct(p).sum();
    EXPECT_NEAR(left, right, 1e-12 * std::abs(left));
    for (Index v = 0; v < map.vertex_count(); ++v) {
      Vector3 by_influence = Vector3::Zero();
      double sum = 0;
      for (const Influence& i : map.influences(v)) {
        by_influence += i.weight * p.col(i.node);
        sum += i.weight;
      }
      EXPECT_LT((by_influence - pushed.col(v)).norm(), 1e-14 * (1 + pushed.col(v).norm()));
      EXPECT_NEAR(sum, 1, 1e-14) << "a translation of the nodes translates the body";
    }
    EXPECT_LT((map.positions(b.nodes) - b.mesh.points).norm(), 1e-14) << "nodes start where the mesh is";
  }
}

TEST(Body, masses_agree_between_kinds_and_with_the_volume) {
  const double mass = 1000 * 0.2 * 0.1 * 0.3;
  for (const Body& b : bodies())
    if (b.is_dynamic()) {
      EXPECT_NEAR(total_mass(b), mass, 1e-12) << b.name;
    }
  const Body consistent = make_volume("c", generate::box({0.2, 0.1, 0.3}, {2, 1, 2}),
                                      NeoHookean{lame_parameters(1e5, 0.4)}, 1000, MassKind::consistent);
  EXPECT_NEAR(total_mass(consistent), mass, 1e-12);
}

TEST(Body, rigid_velocity_has_the_momentum_of_a_rigid_body) {
  for (Body& b : bodies()) {
    if (!b.is_dynamic()) continue;
    set_rigid_velocity(b, {1, 2, 3}, {0.5, -1, 2});
    const Vector3 momentum = (b.velocity * b.mass).rowwise().sum();
    EXPECT_LT((momentum - total_mass(b) * Vector3(1, 2, 3)).norm(), 1e-12) << b.name;
  }
}

TEST(Body, parts_of_an_affine_body_cannot_be_prescribed) {
  Body b = bodies()[1];
  const std::vector<Index> some = {0, 1};
  EXPECT_THROW(prescribe(b, &some, {true, true, true}, {}), InputError);
}

TEST(Body, points_without_mass_are_refused) {
  Mesh m = generate::box({1, 1, 1}, {1, 1, 1});
  m.points.conservativeResize(3, m.points.cols() + 1);
  m.points.rightCols<1>() << 5, 5, 5;
  EXPECT_THROW(make_volume("loose", m, NeoHookean{lame_parameters(1e5, 0.4)}, 1000, MassKind::lumped),
               InputError);
}

TEST(Body, surface_of_an_obstacle_lists_edges_and_points_once) {
  Mesh m = generate::grid(1, 1, 1, 1);
  m.edges.resize(2, 2);
  m.edges.col(0) << m.faces(0, 0), m.faces(1, 0);  // an edge of a triangle
  m.points.conservativeResize(3, m.points.cols() + 2);
  m.points.rightCols<2>() << 2, 3, 0, 0, 0, 0;
  m.edges.col(1) << 4, 5;
  const Body b = make_obstacle("o", m);
  EXPECT_EQ(b.free_segments.cols(), 1);
  EXPECT_EQ(b.surface_points.size(), 6u);
}

}  // namespace
}  // namespace apart
