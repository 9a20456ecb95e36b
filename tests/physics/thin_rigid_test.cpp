// Rigid bodies that have no moment of inertia about themselves: straight rods and points. They are given a
// tiny one (a thickness of a thousandth of their length), which may be seen in nothing but the solution.
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

#include <cmath>
#include <numbers>
#include <physics/jointed_scene.hpp>

namespace apart::test {
namespace {

Body thin(const std::string& name, const Mesh& mesh) {
  return make_rigid(name, mesh, mass_distribution(mesh, 2), {});
}

/// A slope of 1/2, which falls along +x, and a body that begins at a distance of 1.6 mm above it.
struct Slope {
  static inline const double angle = std::atan(0.5);
  static inline const Vector3 down{std::cos(angle), -std::sin(angle), 0},
      normal{std::sin(angle), std::cos(angle), 0};
  Slope(Body body, double friction) {
    scene.contact.friction = friction;
    scene.contact.epsv = 1e-5;
    scene.contact.thickness = 1e-3;
    scene.bodies = {std::move(body), make_half_space("slope", Vector3::Zero(), normal)};
  }
  /// The way of its centre down the slope in some steps [m].
  double way(int steps) {
    simulation = scene.simulation();
    const Vector3 start = centre_of_mass(*simulation, 0);
    for (int step = 0; step < steps; ++step) simulation->step();
    expect_intersection_free(*simulation);
    return (centre_of_mass(*simulation, 0) - start).dot(down);
  }
  SmallScene scene;
  std::unique_ptr<Simulation> simulation;
};

// Contact is thick, bodies are not: friction pulls at the line or point itself, so that nothing makes it
// roll.
TEST(ThinRigidBody, ARodAndAPointStickOnASlopeOrSlideAsCoulombSays) {
  const Mesh across = moved(turned(generate::segments(0.3, 6), Vector3::UnitY(), std::numbers::pi / 2),
                            1.6e-3 * Slope::normal),
             along = moved(turned(generate::segments(0.3, 6), Vector3::UnitZ(), -Slope::angle),
                           1.6e-3 * Slope::normal),
             point = moved(generate::points({1, 1, 1}, 1), 1.6e-3 * Slope::normal);
  for (const Mesh& mesh : {across, along, point}) {
    EXPECT_LT(std::abs(Slope(thin("thin", mesh), 0.6).way(100)), 1e-3);
    Slope slope(thin("thin", mesh), 0.3);
    const double a = earth * (std::sin(Slope::angle) - 0.3 * std::cos(Slope::angle));
    EXPECT_NEAR(slope.way(100), 0.5 * a * 1.01, 0.01 * a) << "½ a t (t + h)";
    EXPECT_LT(slope.simulation->measure({"", Probe::Kind::energy, {0}, {}, {}})[3], 1e-6) << "does not turn";
  }
}

TEST(ThinRigidBody, ACylinderWithTheInertiaOfARodRollsAsFastAsItSlidesWithoutFriction) {
  const double radius = 0.2, length = 0.2, dt = 0.002, time = 0.5;
  // Along z.
  const Mesh cylinder = moved(turned(generate::cylinder(radius, length, 16, 1, generate::Content::surface),
                                     Vector3::UnitX(), std::numbers::pi / 2),
                              (radius + 1.6e-3) * Slope::normal);
  const auto roll = [&](double share) {
    MassDistribution mass = mass_distribution(cylinder, 1000);
    mass.second_moment.topLeftCorner<2, 2>() *= share;  // across its axis: for none, I = ∫ρ r² = 0
    Slope slope(make_rigid("cylinder", cylinder, mass, {}), 1);
    slope.scene.options.dt = dt;  // it turns by 1° a step, so that implicit Euler takes little of its spin
    const double way = slope.way(int(time / dt));
    const std::vector<double> energy = slope.simulation->measure({"", Probe::Kind::energy, {0}, {}, {}});
    EXPECT_NEAR(energy[3], share / 2 * (energy[0] - energy[3]), 0.02 * energy[0]) << "rolls without slip";
    return way;
  };
  const double slide = 0.5 * earth * std::sin(Slope::angle) * time * (time + dt);
  EXPECT_NEAR(roll(1), slide / 1.5, 0.08 * slide);
  EXPECT_NEAR(roll(0), slide, 0.08 * slide);
}

/// Half a period, from one passage of the lowest point to the next, of what hangs by a ball joint at the
/// origin and begins 5° aside [s].
double half_period(const std::string& mesh, double distance) {
  const double aside = 5 * in_radians;
  const Vector3 centre = distance * Vector3(std::sin(aside), -std::cos(aside), 0);
  const Scene scene =
      jointed_scene(R"({"dt": 0.005, "tend": 3, "integrator": "generalized_alpha"})",
                    fmt::format(R"({{"type": "rigid", "name": "thin", "mesh": {}, "mass": 0.5,
                       "transform": {{"rotate": [0, 0, {}], "translate": [{}, {}, 0]}}}},
                     {{"type": "obstacle", "name": "ceiling", "mesh": {{"generator": "grid", "size": [1, 1]}},
                       "transform": {{"translate": [0, 0.1, 0]}}}})",
                                mesh, aside / in_radians - 90, centre[0], centre[1]),
                    R"({"type": "ball", "name": "pivot", "bodies": ["thin"], "at": [0, 0, 0]})");
  Simulation s(scene.model);
  std::vector<double> passages;
  double before = centre[0];
  for (Index step = 0; step < scene.steps; ++step) {
    s.step();
    const Vector3 now = centre_of_mass(s, 0);
    if (before * now[0] < 0) passages.push_back(s.state().time - 0.005 * now[0] / (now[0] - before));
    before = now[0];
    EXPECT_NEAR(now.norm(), distance, 1e-4 * distance);
    EXPECT_LT(std::abs(now[2]), 1e-6) << "swings in its plane";
  }
  EXPECT_GE(passages.size(), 3u);
  return (passages.back() - passages.front()) / double(passages.size() - 1);
}

TEST(ThinRigidBody, ARodAndAPointSwingWithThePeriodOfAPendulum) {
  const double amplitude = 1 + std::pow(5 * in_radians, 2) / 16;
  const double rod = std::numbers::pi * std::sqrt(2.0 / 3.0 * 0.6 / earth) * amplitude,
               point = std::numbers::pi * std::sqrt(0.3 / earth) * amplitude;
  // Rules of second order stretch periods by a small multiple of (ω h)².
  EXPECT_NEAR(
      half_period(R"({"points": [[-0.3, 0, 0], [0, 0, 0], [0.3, 0, 0]], "segments": [[0, 1], [1, 2]]})", 0.3),
      rod, 1e-3 * rod);
  EXPECT_NEAR(half_period(R"({"points": [[0, 0, 0]]})", 0.3), point, 1e-3 * point);
}

TEST(ThinRigidBody, ARodThatSpinsAboutItselfKeepsItsSpinAndItsDirection) {
  SmallScene scene;
  scene.options.gravity.setZero();
  scene.options.integrator.conserves_spin = true;
  scene.options.solver.tolerance = 1e-9;
  Body rod = thin("rod", generate::segments(0.6, 3)), turning = rod;  // along x
  turning.name = "turning";
  set_rigid_velocity(rod, Vector3::Zero(), {100, 0, 0});
  set_rigid_velocity(turning, {0, 1, 0}, {0, 0, 3});
  scene.bodies = {rod};
  auto s = scene.simulation();
  const auto spin = [&] { return s->measure({"", Probe::Kind::energy, {0}, {}, {}})[3]; };
  s->step();
  const Vector3 momentum = angular_momentum(*s);
  const double start = spin();
  EXPECT_GT(momentum[0], 0);
  for (int step = 1; step < 200; ++step) s->step();
  EXPECT_LT((angular_momentum(*s) - momentum).norm(), 1e-9 * momentum.norm());
  EXPECT_NEAR(spin(), start, 1e-6 * start);
  const auto direction = [&] {
    const Matrix3X x = s->model().point_map.positions(s->state().nodes);
    return Vector3((x.col(x.cols() - 1) - x.col(0)).normalized());
  };
  EXPECT_NEAR(direction()[0], 1, 1e-12);
  scene.bodies = {turning};
  s = scene.simulation();
  for (int step = 0; step < 200; ++step) s->step();
  EXPECT_NEAR(direction()[0], std::cos(6), 1e-6) << "a turn of 3 rad/s for 2 s";
  EXPECT_NEAR(direction()[1], std::sin(6), 1e-6);
}

}  // namespace
}  // namespace apart::test
