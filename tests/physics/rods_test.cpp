// Rods against the theory of beams, and the laws of conservation.
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <Eigen/Geometry>
#include <numbers>

namespace apart::test {
namespace {

/// Turning angles of a chain of nodes in order.
std::vector<double> turning_angles(const Matrix3X& x) {
  std::vector<double> angles;
  for (Index i = 1; i + 1 < x.cols(); ++i) {
    const Vector3 a = x.col(i) - x.col(i - 1), b = x.col(i + 1) - x.col(i);
    angles.push_back(std::atan2(a.cross(b).norm(), a.dot(b)));
  }
  return angles;
}

TEST(Rods, ACantileverBendsAsABeamAndConvergesWithTheSquareOfTheSegments) {
  const RodMaterial material{.density = 1000, .young = 1e7, .radius = 0.005};
  const double length = 0.5, area = std::numbers::pi * material.radius * material.radius,
               stiffness = material.young * std::numbers::pi * std::pow(material.radius, 4) / 4;
  const double expected = material.density * area * 0.02 * std::pow(length, 4) / (8 * stiffness);
  ASSERT_LT(expected, 0.01 * length) << "small deflections";
  double error = 1;
  for (const int n : {8, 16, 32}) {
    // The wall is in the middle of the first segment: half of it is the beam's.
    const double h = length / (n + 0.5);
    SmallScene scene;
    Mesh mesh = generate::segments(h * (n + 1), n + 1);
    Body rod = make_rod("rod", mesh, material, RestCurvature::mesh);
    const std::vector<Index> clamped = {0, 1};
    add_script(rod, &clamped, {true, true, true}, {});
    scene.bodies = {rod};
    scene.options.integrator.scheme = Integrator::quasi_static;
    scene.options.gravity = {0, -0.02, 0};
    scene.options.solver.tolerance = 1e-9;
    const auto simulation = scene.simulation();
    simulation->step();
    const double tip = -simulation->state().nodes(1, n + 1);
    const double now = std::abs(tip / expected - 1);
    EXPECT_LT(now, error / 3) << n << " segments: " << tip << " of " << expected;
    error = now;
  }
  EXPECT_LT(error, 2e-3);
}

TEST(Rods, APulledRodStretchesByForceOverStiffness) {
  const RodMaterial material{.density = 1000, .young = 1e6, .radius = 0.01, .stretch_scale = 0.5};
  SmallScene scene;
  Body rod = make_rod("rod", generate::segments(1, 10), material, RestCurvature::mesh);
  const std::vector<Index> held = {0};
  add_script(rod, &held, {true, true, true}, {});
  rod.loads.push_back({Load::Kind::force,
                       [](const Vector3&, double) { return Vector3(1, 0, 0); },
                       rod.sets.add_points("end", {10}),
                       {},
                       {}});
  scene.bodies = {rod};
  scene.options.gravity.setZero();
  scene.options.integrator.scheme = Integrator::quasi_static;
  scene.options.solver.tolerance = 1e-10;
  const auto simulation = scene.simulation();
  const StepReport report = simulation->step();
  const double strain = 1 / (0.5e6 * std::numbers::pi * 1e-4);
  EXPECT_NEAR(simulation->state().nodes(0, 10) - 0.5, strain, 1e-6 * strain);
  EXPECT_NEAR(report.max_strain, strain, 1e-6 * strain);
  EXPECT_EQ(report.max_stretch, report.max_strain);
  EXPECT_NEAR(report.max_compression, 0, 1e-9) << "all of it is pulled";
}

TEST(Rods, AFreeRodKeepsMomentumAndEnergy) {
  SmallScene scene;
  Mesh mesh = generate::segments(1, 20);
  for (Index i = 0; i < mesh.point_count(); ++i)  // an arc, which springs open
    mesh.points.col(i) << std::sin(mesh.points(0, i)), std::cos(mesh.points(0, i)), 0;
  Body rod = make_rod("rod", mesh, {.density = 1000, .young = 1e7, .radius = 0.01}, RestCurvature::straight);
  set_rigid_velocity(rod, {0.3, 0.2, 0.1}, {0, 1, 0.5});
  scene.bodies = {rod};
  scene.options.gravity.setZero();
  scene.options.dt = 1e-3;
  scene.options.integrator.scheme = Integrator::newmark;
  const auto simulation = scene.simulation();
  const Vector3 p = linear_momentum(*simulation), l = angular_momentum(*simulation);
  StepReport report = simulation->step();
  const double energy = report.kinetic_energy + report.elastic_energy;
  EXPECT_GT(report.elastic_energy, 1e-2 * energy);
  double least_elastic = report.elastic_energy;
  for (int k = 0; k < 150; ++k) {
    report = simulation->step();
    least_elastic = std::min(least_elastic, report.elastic_energy);
    EXPECT_NEAR(report.kinetic_energy + report.elastic_energy, energy, 5e-3 * energy);
  }
  EXPECT_LT(least_elastic, 0.2 * energy) << "it did spring";
  EXPECT_LT((linear_momentum(*simulation) - p).norm(), 1e-6 * p.norm());
  EXPECT_LT((angular_momentum(*simulation) - l).norm(), 2e-3 * l.norm());
}

TEST(Rods, RingsAndCoilsKeepTheCurvatureTheyAreMadeWith) {
  for (const bool ring : {true, false}) {
    SmallScene scene;
    const Mesh mesh = ring ? generate::ring(0.2, 24) : generate::helix(0.1, 0.05, 2, 16);
    Body rod = make_rod("rod", mesh, {.density = 1000, .young = 1e7, .radius = 0.005}, RestCurvature::mesh);
    rod.damping.mass = 5;
    EXPECT_EQ(rod.rods->bends.cols(), ring ? 24 : 31) << "a closed chain bends at every node";
    const auto at_rest = turning_angles(rod.nodes);
    scene.contact.dhat = 1e-3;
    scene.options.gravity.setZero();
    scene.bodies = {rod};
    {
      const auto simulation = scene.simulation();
      for (int k = 0; k < 5; ++k) simulation->step();
      EXPECT_LT((simulation->state().nodes - rod.nodes).norm(), 1e-9) << "nothing moves at rest";
    }
    // Squashed, it comes back to its curvature.
    for (Index i = 0; i < rod.node_count(); ++i) scene.bodies[0].nodes(0, i) *= 0.8;
    scene.options.dt = 0.02;
    const auto simulation = scene.simulation();
    for (int k = 0; k < 150; ++k) simulation->step();
    const auto angles = turning_angles(simulation->state().nodes);
    for (std::size_t i = 0; i < angles.size(); ++i)
      EXPECT_NEAR(angles[i], at_rest[i], 0.02 * at_rest[i]) << i;
    expect_intersection_free(*simulation);
  }
}

TEST(Rods, ARodThatIsStraightAtRestSpringsOpen) {
  SmallScene scene;
  scene.bodies = {make_rod("rod", generate::helix(0.1, 0.05, 1, 16),
                           {.density = 1000, .young = 1e7, .radius = 0.005}, RestCurvature::straight)};
  scene.bodies[0].damping.mass = 5;
  scene.options.gravity.setZero();
  scene.options.dt = 0.02;
  const auto simulation = scene.simulation();
  for (int k = 0; k < 100; ++k) simulation->step();
  for (const double angle : turning_angles(simulation->state().nodes)) EXPECT_LT(angle, 0.05);
}

TEST(Rods, ParallelRodsHoldEachOtherApart) {
  // Edges that are parallel exert no force on each other: the mollifier is zero. Nodes against segments must.
  SmallScene scene;
  Mesh lower = generate::segments(1, 4), upper = moved(generate::segments(0.6, 3), {0.013, 0.05, 0});
  Body table = make_obstacle("table", lower);
  const Body rod =
      make_rod("rod", upper, {.density = 1000, .young = 1e7, .radius = 0.01}, RestCurvature::mesh);
  scene.bodies = {table, rod};
  add_script(scene.bodies[1], nullptr, {true, false, true}, {});  // falls straight down
  scene.contact.thickness = 0.02;
  scene.contact.dhat = 2e-3;
  const auto simulation = scene.simulation();
  for (int k = 0; k < 40; ++k) simulation->step();
  expect_intersection_free(*simulation);
  for (Index i = 0; i < rod.node_count(); ++i) {
    const double height = simulation->state().nodes(1, table.node_count() + i);
    EXPECT_GT(height, 0.02);
    EXPECT_LT(height, 0.022) << "it lies on the other";
  }
}

}  // namespace
}  // namespace apart::test
