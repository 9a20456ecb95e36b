// What is measured agrees with statics and with the laws of motion.
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <cmath>

namespace apart::test {
namespace {

TEST(Probes, WeightOnTheFloorIsWhatTheFloorBears) {
  SmallScene scene;
  scene.options.integrator.scheme = Integrator::quasi_static;
  scene.options.solver.tolerance = 1e-8;
  scene.contact.friction = 0.5;
  scene.bodies.push_back(make_volume("block",
                                     moved(generate::box({0.2, 0.1, 0.2}, {2, 1, 2}), {0, 0.0508, 0}),
                                     soft(1e6), 1000, MassKind::lumped));
  scene.bodies.push_back(make_obstacle("table", generate::grid(1, 1, 2, 2)));
  const PointSet block = all_points(scene.bodies[0]), table = all_points(scene.bodies[1]);
  auto s = scene.simulation();
  for (int step = 0; step < 3; ++step) s->step();
  const double weight = 9.81 * total_mass(s->model().bodies[0]);
  const std::vector<double> up = s->measure({"", Probe::Kind::contact, {0}, {1}, {}});
  EXPECT_NEAR(up[1], weight, 1e-4 * weight);
  EXPECT_NEAR(up[6], weight, 1e-4 * weight) << "all contacts are level";
  for (const int k : {0, 2, 3, 4, 5}) EXPECT_NEAR(up[std::size_t(k)], 0, 1e-4 * weight) << k;
  const std::vector<double> down = s->measure({"", Probe::Kind::contact, {1}, {0}, {}});
  EXPECT_EQ(down[1], -up[1]);
  const std::vector<double> held = s->measure({"", Probe::Kind::reaction, {1}, {}, {table}});
  EXPECT_NEAR(held[1], weight, 1e-4 * weight) << "what it takes to hold the table";
  const std::vector<double> nothing = s->measure({"", Probe::Kind::reaction, {0}, {}, {block}});
  EXPECT_NEAR(nothing[1], 0, 1e-4 * weight) << "nothing holds the block but contact";
}

TEST(Probes, PressureTimesAreaIsTheWeightAndStretchAndCompressionAreApart) {
  SmallScene scene;
  scene.options.integrator.scheme = Integrator::quasi_static;
  scene.options.solver.tolerance = 1e-8;
  scene.bodies.push_back(make_volume("block",
                                     moved(generate::box({0.2, 0.1, 0.2}, {4, 2, 4}), {0, 0.0508, 0}),
                                     soft(1e6), 1000, MassKind::lumped));
  scene.bodies.push_back(make_obstacle("table", generate::grid(1, 1, 2, 2)));
  const PointSet block = all_points(scene.bodies[0]), table = all_points(scene.bodies[1]);
  auto s = scene.simulation();
  StepReport report;
  for (int step = 0; step < 3; ++step) report = s->step();
  const double weight = 9.81 * total_mass(s->model().bodies[0]);
  const std::vector<double> pressure = s->measure({"", Probe::Kind::pressure, {0}, {}, {}});
  EXPECT_NEAR(pressure[1] * pressure[2], weight, 1e-3 * weight) << "all forces are level";
  EXPECT_GE(pressure[0], pressure[1]);
  // The sole, and parts of the triangles on the sides that points at its rim belong to: less than the lowest
  // row.
  EXPECT_GT(pressure[2], 0.2 * 0.2);
  EXPECT_LT(pressure[2], 0.2 * 0.2 + 4 * 0.2 * 0.05);
  const std::vector<double> down = s->measure({"", Probe::Kind::displacement, {0}, {}, {block}});
  const std::vector<double> now = s->measure({"", Probe::Kind::position, {0}, {}, {block}});
  EXPECT_NEAR(down[1], now[1] - 0.0508, 1e-12);
  EXPECT_LT(down[1], 0);
  EXPECT_EQ(s->measure({"", Probe::Kind::displacement, {1}, {}, {table}})[1], 0) << "is not moved";
  const std::vector<double> strain = s->measure({"", Probe::Kind::strain, {0}, {}, {}});
  EXPECT_EQ(strain[2], report.max_stretch);
  EXPECT_EQ(strain[3], report.max_compression);
  EXPECT_GT(report.max_compression, report.max_stretch)
      << "a block is pressed by its weight, and widens by less";
  EXPECT_GT(report.max_stretch, 0);
  EXPECT_EQ(report.max_strain, report.max_compression);
}

TEST(Probes, AbsentBodiesCountForNothing) {
  SmallScene scene;
  scene.options.gravity.setZero();
  scene.bodies.push_back(
      make_volume("here", generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), soft(), 1000, MassKind::lumped));
  scene.bodies.push_back(make_volume("late", moved(generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), {1, 0, 0}),
                                     soft(), 1000, MassKind::lumped));
  for (Body& body : scene.bodies) body.velocity.row(0).setConstant(2);
  scene.bodies[1].presence = {.from = 0.02, .until = 0.04};
  const PointSet here = all_points(scene.bodies[0]), there = all_points(scene.bodies[1]);
  auto s = scene.simulation();
  for (int step = 1; step <= 6; ++step) {
    s->step();
    const int bodies = step == 3 || step == 4 ? 2 : 1;
    EXPECT_NEAR(s->measure({"", Probe::Kind::momentum, {0, 1}, {}, {}})[0], bodies * 1.0 * 2, 1e-9) << step;
    EXPECT_NEAR(s->measure({"", Probe::Kind::energy, {0, 1}, {}, {}})[0], bodies * 0.5 * 4, 1e-9) << step;
    const double x = s->measure({"", Probe::Kind::position, {0, 1}, {}, {here, there}})[0];
    EXPECT_NEAR(x, bodies == 1 ? 0.02 * step : 0.5 * (0.02 * step + 1 + 0.02 * (step - 2)), 1e-9) << step;
    const std::vector<double> late = s->measure({"", Probe::Kind::velocity, {1}, {}, {there}});
    EXPECT_EQ(std::isnan(late[0]), bodies == 1) << step;
  }
}

TEST(Probes, SpinEnergyIsThatOfTheTurnAboutTheCentreOfMass) {
  SmallScene scene;
  scene.options.gravity.setZero();
  scene.options.dt = 1e-5;  // implicit Euler takes a share of (ω dt)² from it in a step
  const Vector3 size(0.2, 0.1, 0.3), velocity(300, 0, -100), turn(1, -2, 3);
  const Mesh mesh = moved(turned(generate::box(size, {1, 1, 1}), Vector3::UnitZ(), 0.5), {0, 4, 0});
  const MassDistribution mass = mass_distribution(mesh, 1000);
  scene.bodies = {
      make_rigid("rigid", mesh, mass, {}),
      make_affine("affine", moved(mesh, {5, 0, 0}), Orthogonality{1e9}, 1000),
      make_volume("soft", moved(mesh, {10, 0, 0}), soft(), 1000, MassKind::consistent),
      make_rigid("straight", moved(mesh, {15, 0, 0}), mass_distribution(moved(mesh, {15, 0, 0}), 1000), {})};
  for (Body& body : scene.bodies) set_rigid_velocity(body, velocity, turn);
  set_rigid_velocity(scene.bodies[3], velocity, Vector3::Zero());
  auto s = scene.simulation();
  s->step();
  const Vector3 squares = size.cwiseAbs2(), w = Eigen::AngleAxisd(-0.5, Vector3::UnitZ()) * turn;
  const double m = 1000 * size.prod();
  const Vector3 inertia =
      m / 12 * Vector3(squares[1] + squares[2], squares[0] + squares[2], squares[0] + squares[1]);
  const double spin = 0.5 * w.cwiseAbs2().dot(inertia), flight = 0.5 * m * velocity.squaredNorm();
  const auto energy = [&](std::vector<int> of) { return s->measure({"", Probe::Kind::energy, of, {}, {}}); };
  for (const int body : {0, 1, 2}) {
    EXPECT_NEAR(energy({body})[3], spin, 1e-6 * spin) << body;
    EXPECT_NEAR(energy({body})[0], flight + spin, 1e-10 * flight) << body;
  }
  EXPECT_LT(energy({3})[3], 1e-9 * spin) << "turns by rounding alone, though it flies fast";
  EXPECT_NEAR(energy({0, 1, 2, 3})[3], 3 * spin, 1e-6 * spin) << "each about its own centre";
}

TEST(Probes, FrictionOnASlopeHoldsOrDragsAsCoulombSays) {
  for (const double mu : {0.6, 0.3}) {
    SmallScene scene;
    scene.options.solver.tolerance = 1e-6;
    scene.options.contact.friction_iterations = 0;
    scene.contact.epsv = 1e-4;
    scene.contact.friction = mu;
    const double angle = std::atan(0.5), g = 9.81;
    scene.options.gravity = g * Vector3(std::sin(angle), -std::cos(angle), 0);
    scene.bodies.push_back(make_affine(
        "block", moved(generate::box({0.2, 0.1, 0.2}, {1, 1, 1}), {0, 0.0505, 0}), Orthogonality{1e8}, 1000));
    scene.bodies.push_back(make_half_space("slope", Vector3::Zero(), Vector3::UnitY()));
    auto s = scene.simulation();
    std::vector<double> mean(7, 0.0);
    for (int step = 0; step < 60; ++step) {
      s->step();
      if (step < 40) continue;  // until it lies still in the barrier
      const std::vector<double> now = s->measure({"", Probe::Kind::contact, {0}, {1}, {}});
      for (std::size_t k = 0; k < 7; ++k) mean[k] += now[k] / 20;
    }
    const double weight = g * total_mass(s->model().bodies[0]);
    EXPECT_NEAR(mean[1], weight * std::cos(angle), 2e-3 * weight) << mu;
    EXPECT_NEAR(mean[3], -weight * (mu > 0.5 ? std::sin(angle) : mu * std::cos(angle)), 5e-3 * weight) << mu;
  }
}

TEST(Probes, WhatHoldsAHangingBarBearsItsWeight) {
  for (const Integrator scheme : {Integrator::quasi_static, Integrator::newmark}) {
    SmallScene scene;
    scene.options.integrator.scheme = scheme;
    scene.options.solver.tolerance = 1e-9;
    scene.bodies.push_back(
        make_volume("bar", generate::box({0.1, 0.5, 0.1}, {1, 5, 1}), soft(1e6), 1000, MassKind::lumped));
    const auto top = points_where(scene.bodies[0], [](const Vector3& x) { return x.y() > 0.249; });
    add_script(scene.bodies[0], &top, {true, true, true}, {});
    const PointSet held = scene.bodies[0].scripts[0].points;
    auto s = scene.simulation();
    const double weight = 9.81 * total_mass(s->model().bodies[0]);
    // Newmark's rule takes the mean of forces at both ends of a step. At the start the bar is not stretched:
    // what is held bears the weight of its own nodes.
    double impulse = 0, before = 0;
    for (const Index n : top) before += 9.81 * s->model().mass.coeff(n, n);
    for (int step = 0; step < 40; ++step) {
      s->step();
      const double reaction = s->measure({"", Probe::Kind::reaction, {0}, {}, {held}})[1];
      impulse += 0.01 * 0.5 * (before + reaction);
      before = reaction;
    }
    if (scheme == Integrator::quasi_static) {
      EXPECT_NEAR(s->measure({"", Probe::Kind::reaction, {0}, {}, {held}})[1], weight, 1e-6 * weight);
    } else {
      // Momentum that gravity gave and the hold did not take is in the bar.
      const double momentum = s->measure({"", Probe::Kind::momentum, {0}, {}, {}})[1];
      EXPECT_NEAR(impulse - weight * 0.4, momentum, 1e-6 * weight * 0.4);
    }
  }
}

TEST(Probes, AThrownBodyMovesAsMeasured) {
  SmallScene scene;
  scene.bodies.push_back(make_volume("ball", generate::sphere(0.1, 2), soft(1e7), 1000, MassKind::lumped));
  set_rigid_velocity(scene.bodies[0], {2, 0, 0}, {0, 0, 3});
  const PointSet ball = all_points(scene.bodies[0]);
  scene.bodies.push_back(
      make_obstacle("wall", moved(turned(generate::grid(1, 1, 1, 1), {0, 0, 1}, M_PI / 2), {1, 0, 0})));
  auto s = scene.simulation();
  const Index n = s->model().bodies[0].mesh.point_count();
  const double mass = total_mass(s->model().bodies[0]);
  const double spin = s->step().time > 0 ? s->measure({"", Probe::Kind::momentum, {0}, {}, {}})[5] : 0;
  for (int step = 1; step < 20; ++step) s->step();
  const auto position = s->measure({"", Probe::Kind::position, {0}, {}, {ball}});
  const auto velocity = s->measure({"", Probe::Kind::velocity, {0}, {}, {ball}});
  const auto momentum = s->measure({"", Probe::Kind::momentum, {0}, {}, {}});
  const auto energy = s->measure({"", Probe::Kind::energy, {0}, {}, {}});
  EXPECT_NEAR(position[0], 0.4, 1e-6);
  EXPECT_NEAR(velocity[0], 2, 1e-6);
  EXPECT_NEAR(velocity[1], -9.81 * 0.2, 1e-6);
  EXPECT_NEAR(momentum[0], 2 * mass, 1e-5 * mass);
  EXPECT_NEAR(momentum[1], -9.81 * 0.2 * mass, 1e-5 * mass);
  // About the origin it has its spin, which implicit Euler wears a little, and what gravity's torque gives.
  EXPECT_GT(spin, 0);
  const double speed2 = 4 + std::pow(9.81 * 0.2, 2);
  EXPECT_NEAR(energy[0], 0.5 * mass * speed2, 0.05 * mass);
  EXPECT_NEAR(energy[2], 9.81 * mass * position[1], 0.02 * mass);
  EXPECT_LT(energy[1], 1e-2 * energy[0]);
  const StepReport last = s->step();
  EXPECT_NEAR(last.kinetic_energy, s->measure({"", Probe::Kind::energy, {0}, {}, {}})[0], 1e-9 * energy[0]);
  EXPECT_NEAR(last.elastic_energy, s->measure({"", Probe::Kind::energy, {0}, {}, {}})[1], 1e-9 * energy[0]);
  EXPECT_EQ(last.max_strain, s->measure({"", Probe::Kind::strain, {0}, {}, {}})[0]);
  // The ball's foremost point may be any; the wall is at x = 1.
  const auto points = s->model().point_map.positions(s->state().nodes);
  EXPECT_NEAR(s->measure({"", Probe::Kind::gap, {0}, {1}, {}})[0], 1 - points.leftCols(n).row(0).maxCoeff(),
              1e-12);
}

}  // namespace
}  // namespace apart::test
