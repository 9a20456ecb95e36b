// Balls: alone, with rods, and in heaps.
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <numbers>

namespace apart::test {
namespace {

Mesh one_point(const Vector3& at) {
  Mesh m;
  m.points = at;
  m.vertices.resize(1);
  m.vertices << 0;
  return m;
}

TEST(Particles, HaveTheMassOfBalls) {
  const Body balls = make_particles("b", generate::points({2, 3, 4}, 1), 0.1, 500);
  EXPECT_NEAR(total_mass(balls), 24 * 500 * 4.0 / 3 * std::numbers::pi * 1e-3, 1e-9);
  EXPECT_EQ(balls.surface_points.size(), 24u);
}

TEST(Particles, RodsAndShellsOfEqualMassFallBounceAndRestAlike) {
  // A segment's end and a triangle's corner weigh as much as the ball, so that each moves as the ball does.
  const double r = 0.01, length = 0.3, density = 1000;
  const double end = density * std::numbers::pi * r * r * length / 2;
  const double ball_density = end / (4.0 / 3 * std::numbers::pi * r * r * r);
  const auto heights = [&](const Body& body) {
    SmallScene scene;
    scene.bodies = {body, make_half_space("ground", {0, 0, 0}, {0, 1, 0})};
    scene.contact.thickness = r;
    scene.contact.dhat = 0.01;
    scene.options.contact.barrier_stiffness = 1e4;
    scene.options.integrator.scheme = Integrator::bdf2;  // bounces; implicit Euler swallows impacts
    scene.options.solver.tolerance = 1e-10;
    const auto simulation = scene.simulation();
    std::vector<double> y;
    for (int k = 0; k < 120; ++k) {
      simulation->step();
      for (Index i = 1; i < body.node_count(); ++i)
        EXPECT_NEAR(simulation->state().nodes(1, i), simulation->state().nodes(1, 0), 1e-8);
      y.push_back(simulation->state().nodes(1, 0));
    }
    return y;
  };
  const auto ball = heights(make_particles("ball", one_point({0, 0.2, 0}), r, ball_density));
  const auto rod = heights(make_rod("rod", moved(generate::segments(length, 1), {0, 0.2, 0}),
                                    {.density = density, .young = 1e6, .radius = r}, RestCurvature::mesh));
  Mesh triangle;
  triangle.points.resize(3, 3);
  triangle.points << 0, 0.1, 0,  //
      0.2, 0.2, 0.2,             //
      0, 0, 0.1;
  triangle.faces.resize(3, 1);
  triangle.faces << 0, 1, 2;
  ShellSubstance sheet;
  sheet.membrane = KoiterMembrane{plane_stress_parameters(1e6, 0.3)};
  sheet.density = density;
  sheet.thickness = 3 * end / (density * 0.005);
  const auto shell = heights(make_shell("shell", triangle, sheet));
  double lowest = 1, later = 0;
  for (std::size_t k = 0; k < ball.size(); ++k) {
    EXPECT_NEAR(ball[k], rod[k], 1e-7) << k;
    EXPECT_NEAR(ball[k], shell[k], 1e-7) << k;
    if (lowest < 0.03) later = std::max(later, ball[k]);
    lowest = std::min(lowest, ball[k]);
  }
  EXPECT_GT(lowest, r) << "thickness is kept";
  EXPECT_GT(later, 0.04) << "they bounced";
}

TEST(Particles, InFlightKeepTheirMomentumWhenTheyCollide) {
  SmallScene scene;
  Body a = make_particles("a", generate::points({4, 4, 4}, 0.03), 0.01, 1000);
  Body b = make_particles("b", moved(generate::points({4, 4, 4}, 0.031), {0.16, 0.01, 0.005}), 0.01, 1000);
  set_rigid_velocity(a, {2, 0, 0}, {0, 0, 0});
  set_rigid_velocity(b, {-1, 0.3, 0}, {0, 0, 5});
  scene.bodies = {a, b};
  scene.contact.thickness = 0.02;
  scene.contact.dhat = 2e-3;
  scene.contact.friction = 0.2;
  scene.contact.epsv = 1e-2;
  const auto simulation = scene.simulation();
  const Vector3 start = linear_momentum(*simulation);
  const double mass = total_mass(a) + total_mass(b);
  Index contacts = 0;
  for (int k = 1; k <= 20; ++k) {
    contacts += simulation->step().contacts;
    const Vector3 expected = start + mass * 0.01 * k * scene.options.gravity;
    EXPECT_LT((linear_momentum(*simulation) - expected).norm(), 1e-5 * start.norm()) << k;
  }
  EXPECT_GT(contacts, 100) << "they met";
  expect_intersection_free(*simulation);
}

TEST(Particles, CollideWithEveryKindOfBody) {
  // One ball falls on each of: another ball, a rod, a soft block, triangles, segments and points that are
  // fixed.
  SmallScene scene;
  const auto add = [&](Body body) { scene.bodies.push_back(std::move(body)); };
  const double r = 0.01;
  add(make_half_space("ground", {0, 0, 0}, {0, 1, 0}));
  Body pinned = make_particles("pinned", one_point({0, 0.1, 0}), r, 1000);
  add_script(pinned, nullptr, {true, true, true}, {});
  add(pinned);
  Body rod = make_rod("rod", moved(generate::segments(0.1, 5), {0.2, 0.1, 0}),
                      {.density = 1000, .young = 1e8, .radius = r}, RestCurvature::mesh);
  const std::vector<Index> ends = {0, 5};
  add_script(rod, &ends, {true, true, true}, {});
  add(rod);
  add(make_volume("block", moved(generate::box({0.1, 0.1, 0.1}, {2, 2, 2}), {0.4, 0.075, 0}), soft(1e6), 1000,
                  MassKind::lumped));
  add(make_obstacle("plate", moved(generate::grid(0.1, 0.1, 2, 2), {0.6, 0.1, 0})));
  add(make_obstacle("bar", moved(generate::segments(0.1, 3), {0.8, 0.1, 0})));
  add(make_obstacle("spike", one_point({1.0, 0.1, 0})));
  Mesh balls;
  balls.points.resize(3, 6);
  balls.vertices = Eigen::VectorXi::LinSpaced(6, 0, 5);
  for (int i = 0; i < 6; ++i) balls.points.col(i) << 0.2 * i, 0.15, 0;
  const std::size_t body = scene.bodies.size();
  add(make_particles("balls", balls, r, 1000));
  scene.contact.thickness = 2 * r;
  scene.contact.dhat = 2e-3;
  const auto simulation = scene.simulation();
  for (int k = 0; k < 25; ++k) {
    simulation->step();
    expect_intersection_free(*simulation);
  }
  const Model& m = simulation->model();
  for (int i = 0; i < 6; ++i)
    EXPECT_GT(simulation->state().nodes(1, m.first_node[body] + i), 0.11) << "ball " << i << " lies on top";
}

/// Share of a box that is inside balls of a radius.
double filled_share(const Matrix3X& centres, double radius, const Vector3& low, const Vector3& high) {
  constexpr int n = 40;
  int inside = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) {
        const Vector3 x = low + (high - low).cwiseProduct((Vector3(i, j, k).array() + 0.5).matrix() / n);
        inside += (centres.colwise() - x).colwise().squaredNorm().minCoeff() < radius * radius;
      }
  return double(inside) / (n * n * n);
}

TEST(Particles, AHeapPacksAsRandomSpheresDoSlow) {
  const double r = 0.01;
  SmallScene scene;
  Body balls = make_particles(
      "balls", moved(generate::packing({0.14, 0.48, 0.14}, r, 1e-3, 0, 1), {0, 0.255, 0}), r, 1000);
  ASSERT_GT(balls.node_count(), 450);
  scene.bodies = {balls,
                  make_half_space("ground", {0, 0, 0}, {0, 1, 0}),
                  make_half_space("left", {-0.072, 0, 0}, {1, 0, 0}),
                  make_half_space("right", {0.072, 0, 0}, {-1, 0, 0}),
                  make_half_space("back", {0, 0, -0.072}, {0, 0, 1}),
                  make_half_space("front", {0, 0, 0.072}, {0, 0, -1})};
  scene.contact.dhat = 4e-4;
  scene.options.dt = 0.01;
  scene.options.solver.tolerance = 5e-3;
  PairTable pairs(6, scene.contact);
  for (int a = 0; a < 6; ++a)
    for (int b = a; b < 6; ++b) {
      PairSettings s = scene.contact;
      s.enabled = a == 0;
      s.thickness = b == 0 ? 2 * r : r;  // half-spaces have none of their own
      pairs.set(a, b, s);
    }
  Simulation simulation(std::make_shared<Model>(scene.bodies, pairs, scene.options));
  double speed = 1;
  int k = 0;
  for (; k < 150 && (k < 40 || speed > 0.05); ++k) {
    simulation.step();
    speed = simulation.state().velocity.colwise().norm().maxCoeff();
  }
  expect_intersection_free(simulation);
  const Matrix3X& x = simulation.state().nodes;
  const double top = x.row(1).maxCoeff();
  // Two diameters away from walls and floor, and from the top.
  const double share = filled_share(x, r, {-0.032, 0.04, -0.032}, {0.032, top - 0.04, 0.032});
  RecordProperty("packing_fraction", std::to_string(share));
  std::printf("packing fraction %.4f after %d steps, top at %.4f m, speed %.3g m/s\n", share, k, top, speed);
  EXPECT_GT(share, 0.55);
  EXPECT_LT(share, 0.66);
}

}  // namespace
}  // namespace apart::test
