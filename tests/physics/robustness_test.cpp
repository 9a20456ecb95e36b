// Degenerate contacts, high speed, scripted motion that is in the way: every state stays free of
// intersections.
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

namespace apart::test {
namespace {

/// A closed fan of tetrahedra: every surface triangle joined to an inner point. For convex shapes.
Mesh convex(const std::vector<Vector3>& corners, const std::vector<Eigen::Vector3i>& triangles) {
  Mesh m;
  const Index n = Index(corners.size());
  m.points.resize(3, n + 1);
  Vector3 centre = Vector3::Zero();
  for (Index i = 0; i < n; ++i) {
    m.points.col(i) = corners[i];
    centre += corners[i] / double(n);
  }
  m.points.col(n) = centre;
  m.tetrahedra.resize(4, Index(triangles.size()));
  for (std::size_t t = 0; t < triangles.size(); ++t) m.tetrahedra.col(Index(t)) << triangles[t], n;
  orient_tetrahedra(m);
  return m;
}

/// Pyramid on a square base of side 0.2 at y = 0, tip at y = `height` (may be negative: pointing down).
Mesh spike(double height) {
  const double a = 0.1;
  return convex({{-a, 0, -a}, {a, 0, -a}, {a, 0, a}, {-a, 0, a}, {0, height, 0}},
                {{0, 1, 2}, {0, 2, 3}, {0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}});
}

/// Prism with an edge along z at y = `height`, base of 0.2 × 0.2 at y = 0.
Mesh wedge(double height) {
  const double a = 0.1;
  return convex({{-a, 0, -a}, {a, 0, -a}, {a, 0, a}, {-a, 0, a}, {0, height, -a}, {0, height, a}},
                {{0, 1, 2}, {0, 2, 3}, {0, 1, 4}, {1, 2, 5}, {1, 5, 4}, {2, 3, 5}, {3, 0, 4}, {3, 4, 5}});
}

Mesh surface_of(const Mesh& solid) {
  Mesh m;
  m.points = solid.points;
  m.faces = boundary_faces(solid.tetrahedra);
  return remove_unreferenced_points(m);
}

/// Drops `body` onto `obstacles` and checks every state.
StepReport drop(const Mesh& body, const std::vector<Mesh>& obstacles, double speed = 0, double friction = 0) {
  SmallScene scene;
  scene.options.dt = 0.02;
  scene.options.solver.tolerance = 1e-3;
  scene.contact.friction = friction;
  scene.bodies.push_back(make_volume("body", body, soft(1e6), 1000, MassKind::lumped));
  if (speed > 0) set_rigid_velocity(scene.bodies[0], {0, -speed, 0}, Vector3::Zero());
  for (std::size_t i = 0; i < obstacles.size(); ++i)
    scene.bodies.push_back(make_obstacle("obstacle" + std::to_string(i), obstacles[i]));
  auto s = scene.simulation();
  expect_intersection_free(*s);
  StepReport most;
  for (int step = 0; step < 40; ++step) {
    const StepReport r = s->step();
    EXPECT_TRUE(r.converged);
    if (r.contacts > most.contacts) most = r;
    expect_intersection_free(*s);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(most.contacts, 0) << "they must have met";
  return most;
}

TEST(Degenerate, SpikeFallsOnSpike) {
  drop(moved(spike(-0.2), {0, 0.41, 0}), {surface_of(spike(0.2))});
}

TEST(Degenerate, SpikeFallsOnTheEdgeOfAWedge) {
  drop(moved(spike(-0.2), {0, 0.41, 0}), {surface_of(wedge(0.2))}, 0, 0.3);
}

TEST(Degenerate, WedgeFallsOnWedgeAlongAndAcross) {
  drop(moved(wedge(-0.2), {0, 0.41, 0}), {surface_of(wedge(0.2))});
  drop(moved(turned(wedge(-0.2), Vector3::UnitY(), EIGEN_PI / 2), {0, 0.41, 0}), {surface_of(wedge(0.2))});
}

TEST(Degenerate, WedgeFallsIntoACrackOfItsOwnShape) {
  const Mesh left = moved(generate::box({0.3, 0.2, 0.3}, {1, 1, 1}), {-0.151, -0.1, 0});
  const Mesh right = moved(generate::box({0.3, 0.2, 0.3}, {1, 1, 1}), {0.151, -0.1, 0});
  drop(moved(wedge(-0.2), {0, 0.21, 0}), {surface_of(left), surface_of(right)}, 1);
}

TEST(Degenerate, CubeOnAlignedCubeOfTheSameMesh) {
  const Mesh cube = generate::box({0.2, 0.2, 0.2}, {2, 2, 2});
  drop(moved(cube, {0, 0.202, 0}), {surface_of(cube)});
}

TEST(Degenerate, CubeOverACliffEdge) {
  const Mesh cube = generate::box({0.2, 0.2, 0.2}, {1, 1, 1});
  drop(moved(cube, {0.1, 0.202, 0}), {surface_of(cube)}, 0, 0.5);  // edge of one over the middle of the other
  drop(moved(cube, {0.2, 0.202, 0}), {surface_of(cube)});          // edge exactly on edge
}

TEST(Degenerate, CubeFallsEdgeFirstAndCornerFirst) {
  const Mesh cube = generate::box({0.2, 0.2, 0.2}, {1, 1, 1});
  const Mesh floor = generate::grid(1, 1, 2, 2);
  const Mesh on_edge = turned(cube, Vector3::UnitZ(), EIGEN_PI / 4);
  const Mesh on_corner = turned(on_edge, Vector3::UnitX(), std::atan(std::sqrt(0.5)));
  drop(moved(on_edge, {0, 0.15, 0}), {floor});
  drop(moved(on_corner, {0, 0.18, 0}), {floor}, 0, 0.2);
}

TEST(Degenerate, BallFallsOnPointsAndOnSegments) {
  Mesh points = generate::points({5, 1, 5}, 0.05);
  Mesh lines;
  for (int i = 0; i < 5; ++i) {
    const Mesh one = moved(generate::segments(0.4, 4), {0, 0, 0.05 * (i - 2)});
    const Index n = lines.point_count(), e = Index(lines.edges.cols());
    lines.points.conservativeResize(3, n + one.point_count());
    lines.points.rightCols(one.point_count()) = one.points;
    lines.edges.conservativeResize(2, e + one.edges.cols());
    lines.edges.rightCols(one.edges.cols()) = one.edges.array() + n;
  }
  const Mesh ball = moved(generate::sphere(0.1, 3), {0.003, 0.11, 0.002});
  drop(ball, {points});
  drop(ball, {lines}, 0, 0.3);
}

TEST(Degenerate, AStackOfFiveAlignedCubesStands) {
  SmallScene scene;
  scene.options.dt = 0.02;
  scene.options.solver.tolerance = 1e-3;
  scene.contact.friction = 0.3;
  for (int i = 0; i < 5; ++i)
    scene.bodies.push_back(
        make_volume("cube" + std::to_string(i),
                    moved(generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), {0, 0.102 + 0.202 * i, 0}), soft(1e6),
                    1000, MassKind::lumped));
  scene.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  auto s = scene.simulation();
  for (int step = 0; step < 100; ++step) s->step();
  expect_intersection_free(*s);
  for (int i = 0; i < 5; ++i) {
    const Vector3 c = centre_of_mass(*s, i);
    // Pressed together by what is above, up to 1 % at the bottom, and apart by the gaps: measured 2.0 mm
    // lower at most. None slips by a millimetre.
    EXPECT_NEAR(c[1], 0.1 + 0.2 * i, 0.003);
    EXPECT_LT(std::hypot(c[0], c[2]), 1e-3);
  }
}

TEST(Tunnelling, AFastBallNeverPassesAThinBoard) {
  for (const double speed : {10.0, 100.0, 1000.0}) {
    SmallScene scene;
    scene.options.dt = 0.02;
    scene.options.gravity.setZero();
    scene.options.solver.tolerance = 1e-2;
    scene.bodies.push_back(
        make_volume("ball", moved(generate::sphere(0.1, 2), {0, 0, 0.2}), soft(1e6), 1000, MassKind::lumped));
    set_rigid_velocity(scene.bodies[0], {0, 0, -speed}, Vector3::Zero());
    Mesh board = generate::box({1, 1, 2e-3}, {6, 6, 1});
    scene.bodies.push_back(make_volume("board", board, soft(1e8), 1000, MassKind::lumped));
    std::vector<Index> rim;
    for (Index p = 0; p < board.point_count(); ++p)
      if (board.points.col(p).head<2>().cwiseAbs().maxCoeff() > 0.499) rim.push_back(p);
    add_script(scene.bodies[1], &rim, {true, true, true}, {});
    auto s = scene.simulation();
    for (int step = 0; step < 6; ++step) {
      s->step();
      expect_intersection_free(*s);
    }
    // Still on its side of the board: the board's middle, however far it was pushed, is behind it.

    EXPECT_GT(centre_of_mass(*s, 0)[2], centre_of_mass(*s, 1)[2]) << speed << " m/s";
  }
}

/// A press that comes down at `speed` on a soft block standing on the ground.
std::unique_ptr<Simulation> press(double speed, double dt) {
  SmallScene scene;
  scene.options.dt = dt;
  scene.options.solver.tolerance = 1e-2;
  scene.options.solver.max_iterations = 400;
  scene.bodies.push_back(make_volume("block", moved(generate::box({0.2, 0.2, 0.2}, {3, 3, 3}), {0, 0.102, 0}),
                                     soft(1e5), 1000, MassKind::lumped));
  scene.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  scene.bodies.push_back(make_obstacle("press", moved(generate::grid(0.5, 0.5, 2, 2), {0, 0.21, 0}),
                                       rigid_motion([speed](double t) {
                                         Pose p;
                                         p.translation = {0, -speed * t, 0};
                                         return p;
                                       })));
  return scene.simulation();
}

TEST(ScriptedMotion, PressesASoftBlockThroughTheAugmentedLagrangian) {
  auto s = press(2.0, 0.02);  // 4 cm a step: straight ahead it would run into the block
  bool lagrangian = false;
  for (int step = 0; step < 3; ++step) {
    lagrangian |= s->step().scripted_by_lagrangian;
    expect_intersection_free(*s);
  }
  EXPECT_TRUE(lagrangian);
  // After 60 ms the press should be 12 cm down; each step reaches at least 99.9 % of its way.
  const Index node = s->model().first_node[2];
  EXPECT_NEAR(s->state().nodes(1, node), 0.21 - 0.12, 1e-3);
}

TEST(ScriptedMotion, ThatIsImpossibleIsReportedWithBodyAndNodeAndKeepsTheState) {
  auto s = press(2.0, 0.02);
  try {
    for (int step = 0; step < 8; ++step) s->step();  // after 0.105 s the press would be below the ground
    FAIL() << "a press cannot go through the ground and a block";
  } catch (const SolverError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("'press'"), std::string::npos) << text;
    EXPECT_NE(text.find("step 6"), std::string::npos) << text;
  }
  EXPECT_LE(s->state().step, 5);
  expect_intersection_free(*s);
}

TEST(ScriptedMotion, FollowsItsScriptExactlyWhenNothingIsInTheWay) {
  SmallScene scene;
  scene.bodies.push_back(make_volume("bar", generate::rod(1, 0.1, 8), soft(1e5), 1000, MassKind::lumped));
  std::vector<Index> left;
  for (Index p = 0; p < scene.bodies[0].mesh.point_count(); ++p)
    if (scene.bodies[0].mesh.points(0, p) < -0.49) left.push_back(p);
  add_script(scene.bodies[0], &left, {true, true, true}, rigid_motion([](double t) {
               Pose p;
               p.rotation = Eigen::AngleAxisd(3 * t, Vector3::UnitX()).toRotationMatrix();
               return p;
             }));
  auto s = scene.simulation();
  for (int step = 0; step < 20; ++step) s->step();
  const Matrix3 r = Eigen::AngleAxisd(0.6, Vector3::UnitX()).toRotationMatrix();
  for (const Index p : left)
    EXPECT_LT((s->state().nodes.col(p) - r * s->model().initial_nodes.col(p)).norm(), 1e-14);
}

TEST(ScriptedMotion, OfEverythingLeavesNothingToSolve) {
  SmallScene scene;
  scene.bodies.push_back(
      make_volume("box", generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), soft(), 1000, MassKind::lumped));
  add_script(scene.bodies[0], nullptr, {true, true, true}, rigid_motion([](double t) {
               Pose p;
               p.translation = {t, 0, 0};
               return p;
             }));
  auto s = scene.simulation();
  for (int step = 0; step < 3; ++step) EXPECT_TRUE(s->step().converged);
  EXPECT_LT((s->state().nodes - (s->model().initial_nodes.colwise() + Vector3(0.03, 0, 0))).norm(), 1e-15);
}

TEST(ScriptedMotion, ThatIsNoNumberIsReportedWithBodyAndTime) {
  SmallScene scene;
  scene.bodies.push_back(
      make_volume("box", generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), soft(), 1000, MassKind::lumped));
  scene.bodies.push_back(
      make_obstacle("plate", moved(generate::grid(1, 1, 1, 1), {0, -1, 0}), rigid_motion([](double t) {
                      Pose p;
                      p.translation = {std::sqrt(0.025 - t), 0, 0};
                      return p;
                    })));
  auto s = scene.simulation();
  s->step();
  s->step();
  try {
    s->step();
    FAIL();
  } catch (const SolverError& e) {
    EXPECT_NE(std::string(e.what()).find("'plate'"), std::string::npos) << e.what();
  }
  EXPECT_EQ(s->state().step, 2);
}

}  // namespace
}  // namespace apart::test
