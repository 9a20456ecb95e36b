// The contract of LinearMap, for the map of every kind of body.
#include <apart/bodies/body.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <set>

namespace apart::test {
namespace {

Matrix3X random(Index n, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  return Matrix3X::NullaryExpr(3, n, [&](Eigen::Index, Eigen::Index) { return normal(engine); });
}

struct Sample {
  Body body;
  double mass = 0;  ///< [kg]; 0: none
};

/// Bodies of one kind, one for each way of making its map. A new kind does not compile here until it has
/// some.
std::vector<Sample> samples(BodyKind kind) {
  const Vector3 size(0.2, 0.1, 0.3);
  const Eigen::Vector3i cells(2, 1, 2);
  const Mesh box = generate::box(size, cells);
  const double box_mass = 1000 * size.prod();
  const NeoHookean soft{lame_parameters(1e5, 0.4)};
  const Motion fall = rigid_motion([](double t) { return Pose{.translation = Vector3(0, -t, 0)}; });
  switch (kind) {
    case BodyKind::volume:
      return {{make_volume("volume of lumped mass", box, soft, 1000, MassKind::lumped), box_mass},
              {make_volume("volume of consistent mass", box, soft, 1000, MassKind::consistent), box_mass}};
    case BodyKind::planar: {
      const Mesh plate = generate::rectangle({0.4, 0.3}, {3, 2});
      const CellSubstances substances{{{soft, 800}}, std::vector<Index>(12, 0)};
      const double mass = 800 * 0.4 * 0.3 * 0.05;
      return {{make_planar("planar of lumped mass", plate, substances, {0.05}), mass},
              {make_planar("planar of consistent mass", plate, substances,
                           {0.05, PlaneState::stress, MassKind::consistent}),
               mass}};
    }
    case BodyKind::shell: {
      ShellSubstance cloth;
      cloth.membrane = KoiterMembrane{plane_stress_parameters(1e5, 0.3)};
      cloth.density = 500;
      cloth.thickness = 2e-3;
      return {{make_shell("shell", generate::grid(0.4, 0.3, 3, 2), cloth), 500 * 2e-3 * 0.4 * 0.3}};
    }
    case BodyKind::affine:
      return {{make_affine("affine of tetrahedra", box, Orthogonality{1e8}, 1000), box_mass},
              {make_affine("affine of a surface", generate::box(size, cells, generate::Content::surface),
                           Orthogonality{1e8}, 1000),
               box_mass}};
    case BodyKind::rigid: {
      const Mesh sheet = generate::grid(0.4, 0.3, 3, 2), segments = generate::segments(2, 4);
      return {{make_rigid("rigid tetrahedra", box, mass_distribution(box, 1000)), box_mass},
              {make_rigid("rigid sheet", sheet, mass_distribution(sheet, 10)), 10 * 0.4 * 0.3},
              {make_rigid("rigid segments", segments, mass_distribution(segments, 3)), 3 * 2.0}};
    }
    case BodyKind::rod: {
      const double area = std::numbers::pi * 1e-6;  // of the default radius [m²]
      const Mesh ring = generate::ring(0.1, 7);
      const double around = 7 * 2 * 0.1 * std::sin(std::numbers::pi / 7);
      return {{make_rod("open rod", generate::segments(1, 4), {}, RestCurvature::mesh), 1000 * area},
              {make_rod("closed rod", ring, {}, RestCurvature::straight), 1000 * area * around}};
    }
    case BodyKind::particles:
      return {{make_particles("particles", generate::points({2, 1, 3}, 0.1), 0.02, 800),
               6 * 800 * 4.0 / 3 * std::numbers::pi * std::pow(0.02, 3)}};
    case BodyKind::obstacle:
      return {{make_obstacle("triangles", generate::grid(1, 1, 2, 2))},
              {make_obstacle("moved tetrahedra", box, fall)},
              {make_obstacle("segments", generate::segments(1, 3))},
              {make_obstacle("points", generate::points({2, 1, 3}, 0.1))}};
    case BodyKind::half_space:
      return {{make_half_space("half-space", {0, 1, 0}, {0, 2, 0})},
              {make_half_space("moved half-space", {0, 1, 0}, {0, 2, 0}, fall)}};
  }
  return {};
}

constexpr BodyKind kinds[] = {BodyKind::volume,    BodyKind::planar,   BodyKind::shell,
                              BodyKind::affine,    BodyKind::rigid,    BodyKind::rod,
                              BodyKind::particles, BodyKind::obstacle, BodyKind::half_space};

/// Of every kind.
std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const BodyKind kind : kinds)
    for (Sample& s : samples(kind)) all.push_back(std::move(s));
  return all;
}

TEST(LinearMap, EveryKindOfBodyIsTestedHere) {
  std::set<std::string_view> tested;
  for (const BodyKind kind : kinds) {
    tested.insert(name_of(kind));
    EXPECT_FALSE(samples(kind).empty()) << name_of(kind);
    for (const Sample& s : samples(kind)) EXPECT_EQ(s.body.kind, kind) << s.body.name;
  }
  // name_of() knows every kind; of numbers that are none it returns the name of one.
  for (int k = 0; k < 256; ++k)
    EXPECT_TRUE(tested.contains(name_of(BodyKind(k)))) << "add " << name_of(BodyKind(k)) << " to kinds";
}

void expect_contract(const LinearMap& map) {
  const Matrix3X q = random(map.node_count(), 1), p = random(map.node_count(), 2),
                 g = random(map.vertex_count(), 3);
  const Matrix3X pushed = map.push_forward(p), moved = map.positions(q + p) - map.positions(q);
  ASSERT_EQ(pushed.cols(), map.vertex_count());
  EXPECT_LE((moved - pushed).norm(), 1e-14 * (q.norm() + p.norm())) << "push-forward is the derivative";
  const Matrix3X pulled = map.pull_back(g);
  ASSERT_EQ(pulled.cols(), map.node_count());
  const double left = pushed.cwiseProduct(g).sum(), right = pulled.cwiseProduct(p).sum();
  EXPECT_NEAR(left, right, 1e-14 * pushed.norm() * g.norm()) << "pull-back is its transpose";
  const VectorX bound = map.bound(p.colwise().norm().transpose());
  ASSERT_EQ(bound.size(), map.vertex_count());
  for (Index v = 0; v < map.vertex_count(); ++v) {
    Vector3 by_influence = Vector3::Zero();
    std::set<Index> nodes;
    for (const Influence& i : map.influences(v)) {
      by_influence += i.weight * p.col(i.node);
      EXPECT_TRUE(nodes.insert(i.node).second) << "vertex " << v << " names node " << i.node << " twice";
    }
    EXPECT_LE((by_influence - pushed.col(v)).norm(), 1e-14 * (1 + pushed.col(v).norm()));
    EXPECT_LE(pushed.col(v).norm(), bound[v] * (1 + 1e-14)) << "nothing moves farther than the bound";
  }
}

TEST(LinearMap, KeepsItsContractForEveryKindOfBody) {
  for (const Sample& s : samples()) {
    const Body& b = s.body;
    SCOPED_TRACE(b.name);
    ASSERT_EQ(b.point_map.node_count(), b.node_count());
    ASSERT_EQ(b.point_map.vertex_count(), b.mesh.point_count());
    expect_contract(b.point_map);
    for (Index v = 0; v < b.point_map.vertex_count(); ++v) {
      double sum = 0;
      for (const Influence& i : b.point_map.influences(v)) sum += i.weight;
      EXPECT_NEAR(sum, 1, 1e-14) << "a translation of the nodes translates the body";
    }
    EXPECT_LE((b.point_map.positions(b.nodes) - b.mesh.points).norm(), 1e-14)
        << "nodes start where the mesh is";
  }
}

TEST(LinearMap, KeepsItsContractForAnyNumberOfInfluencesAndForOffsets) {
  std::mt19937 engine(5);
  std::normal_distribution<double> normal;
  std::vector<Index> order(40);
  std::iota(order.begin(), order.end(), 0);
  const auto some = [&](int count) {
    std::shuffle(order.begin(), order.end(), engine);
    std::vector<Influence> result;
    for (int k = 0; k < count; ++k) result.push_back({order[std::size_t(k)], normal(engine)});
    return result;
  };
  LinearMap map(40);
  for (const int count : {1, 3, 35, 40}) map.add_vertex(some(count));
  map.add_vertex(some(10), {1, 2, 3});  // the first offset comes late
  map.add_vertex(some(2));
  expect_contract(map);
  const Matrix3X at_zero = map.positions(Matrix3X::Zero(3, 40));
  EXPECT_EQ(at_zero.col(4), Vector3(1, 2, 3));
  EXPECT_EQ(at_zero.norm(), Vector3(1, 2, 3).norm()) << "x₀ is that of its own vertex";

  // As part of a map of more nodes, some of its vertices in another order.
  LinearMap whole = LinearMap::identity(50);
  const std::vector<Index> chosen = {5, 4, 2};
  whole.append(map, chosen, 7);
  expect_contract(whole);
  const Matrix3X q = random(50, 6), part = map.positions(q.middleCols(7, 40)), all = whole.positions(q);
  for (std::size_t k = 0; k < chosen.size(); ++k)
    EXPECT_EQ(all.col(50 + Index(k)), part.col(chosen[k])) << "vertex " << chosen[k];
}

TEST(LinearMap, KeepsItsContractWhereBodiesOfFourNodesAndOthersAlternate) {
  LinearMap map(13);
  const auto four = [](Index node, double w) {
    return std::array<Influence, 4>{{{node, w}, {node + 1, 0.5 - w}, {node + 2, 0.2}, {node + 3, 0.3}}};
  };
  for (int k = 0; k < 5000; ++k) map.add_vertex(four(0, 0.001 * k));  // more than one thread takes at a time
  map.add_vertex(std::array<Influence, 1>{{{4, 1.0}}});
  for (int k = 0; k < 3; ++k) map.add_vertex(four(5, 0.1 * k), {0, 0, 1.0 * k});
  for (int k = 0; k < 3; ++k) map.add_vertex(four(9, 0.1 * k));
  auto other_order = four(9, 0.4);
  std::swap(other_order[0], other_order[1]);
  map.add_vertex(other_order);
  map.add_vertex(four(9, 0.7));
  expect_contract(map);
}

TEST(Body, HasTheMassOfItsVolumeWhateverItsKind) {
  for (const Sample& s : samples()) {
    EXPECT_EQ(s.body.is_dynamic(), s.mass > 0) << s.body.name;
    EXPECT_NEAR(total_mass(s.body), s.mass, 1e-12 * s.mass) << s.body.name;
  }
}

TEST(Body, RigidVelocityHasTheMomentumOfARigidBody) {
  for (Sample& s : samples()) {
    if (!s.body.is_dynamic()) continue;
    set_rigid_velocity(s.body, {1, 2, 3}, {0.5, -1, 2});
    const Vector3 momentum = (s.body.velocity * s.body.mass).rowwise().sum();
    EXPECT_LT((momentum - s.mass * Vector3(1, 2, 3)).norm(), 1e-12 * s.mass) << s.body.name;
  }
}

TEST(Body, PartsOfAnAffineBodyCannotBeScripted) {
  Body b = samples(BodyKind::affine)[0].body;
  const std::vector<Index> some = {0, 1};
  EXPECT_THROW(add_script(b, &some, {true, true, true}, {}), InputError);
}

TEST(Body, PointsWithoutMassAreRefused) {
  Mesh m = generate::box({1, 1, 1}, {1, 1, 1});
  m.points.conservativeResize(3, m.points.cols() + 1);
  m.points.rightCols<1>() << 5, 5, 5;
  EXPECT_THROW(make_volume("loose", m, NeoHookean{lame_parameters(1e5, 0.4)}, 1000, MassKind::lumped),
               InputError);
}

TEST(Body, SurfaceOfAnObstacleListsEdgesAndPointsOnce) {
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
}  // namespace apart::test
