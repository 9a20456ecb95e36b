// Conservation laws and analytic results.
#include <apart/core/parallel.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

namespace apart::test {
namespace {

const Vector3 gravity{0, -9.81, 0};

TEST(FreeFall, FollowsTheImplicitEulerRecursionToRounding) {
  SmallScene scene;
  scene.bodies.push_back(make_volume("ball", generate::sphere(0.1, 2), soft(), 1000, MassKind::lumped));
  scene.bodies.push_back(make_affine("box", moved(generate::box({0.1, 0.2, 0.3}, {1, 1, 1}), {1, 0, 0}),
                                     Orthogonality{1e8}, 500));
  set_rigid_velocity(scene.bodies[0], {0.3, 1, -2}, Vector3::Zero());
  set_rigid_velocity(scene.bodies[1], {0.3, 1, -2}, Vector3::Zero());
  auto s = scene.simulation();
  const Matrix3X start = s->state().nodes;
  Vector3 velocity(0.3, 1, -2), shift = Vector3::Zero();
  for (int step = 0; step < 50; ++step) {
    s->step();
    velocity += scene.options.dt * gravity;
    shift += scene.options.dt * velocity;
  }
  const Matrix3X expected = start.colwise() + shift;
  EXPECT_LT((s->state().nodes - expected).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((s->state().velocity.colwise() - velocity).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(Momentum, IsConservedThroughACollisionWithoutExternalForces) {
  SmallScene scene;
  scene.options.gravity.setZero();
  scene.options.solver.tolerance = 1e-9;
  scene.contact.friction = 0.3;
  scene.bodies.push_back(make_volume("left", generate::sphere(0.1, 2), soft(1e5), 1000, MassKind::lumped));
  scene.bodies.push_back(make_volume("right", moved(generate::sphere(0.1, 2), {0.215, 0.05, 0}), soft(1e5),
                                     500, MassKind::consistent));
  set_rigid_velocity(scene.bodies[0], {2, 0, 0.1}, {0, 0, 3});
  set_rigid_velocity(scene.bodies[1], {-1, 0, 0}, {1, 0, 0});
  auto s = scene.simulation();
  const Vector3 before = linear_momentum(*s);
  Index most = 0;
  for (int step = 0; step < 15; ++step) {
    most = std::max(most, s->step().contacts);
    expect_intersection_free(*s);
  }
  EXPECT_GT(most, 0) << "they must have met";
  // Every Newton step ends within tolerance (1e-9 m/s) of a balance of internal forces.
  EXPECT_LT((linear_momentum(*s) - before).norm(), 1e-7 * before.norm());
}

TEST(Energy, NeverIncreasesUnderImplicitEulerWithoutForcing) {
  SmallScene scene;
  scene.options.gravity.setZero();
  scene.options.solver.tolerance = 1e-9;
  scene.options.contact.barrier_stiffness =
      1e7;  // constant, so that the contact energy is a function of position
  scene.bodies.push_back(make_volume("left", generate::sphere(0.1, 2), soft(1e5), 1000, MassKind::lumped));
  scene.bodies.push_back(make_volume("right", moved(generate::sphere(0.1, 2), {0.22, 0.03, 0}), soft(1e4),
                                     1000, MassKind::lumped));
  set_rigid_velocity(scene.bodies[0], {3, 0, 0}, {0, 4, 0});
  auto s = scene.simulation();
  double energy = 1e300;
  Index most = 0;
  for (int step = 0; step < 30; ++step) {
    const StepReport r = s->step();
    most = std::max(most, r.contacts);
    const double now = r.kinetic_energy + r.elastic_energy + r.contact_energy;
    EXPECT_LE(now, energy * (1 + 1e-9)) << "step " << step;
    energy = now;
  }
  EXPECT_GT(most, 0);
}

TEST(Rest, ABoxComesToRestWithinDhatOfTheGround) {
  SmallScene scene;
  scene.options.dt = 0.02;
  scene.options.solver.tolerance = 1e-5;
  scene.bodies.push_back(make_volume("box", moved(generate::box({0.2, 0.2, 0.2}, {2, 2, 2}), {0, 0.105, 0}),
                                     soft(1e6), 1000, MassKind::lumped));
  scene.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  auto s = scene.simulation();
  StepReport r;
  for (int step = 0; step < 150; ++step) r = s->step();
  EXPECT_GT(r.min_distance, 0);
  EXPECT_LT(r.min_distance, scene.contact.dhat);
  EXPECT_LT(s->state().velocity.cwiseAbs().maxCoeff(), 1e-3);
  // The force that holds it is its weight.
  const Frame f = s->frame();
  const double weight = total_mass(scene.bodies[0]) * 9.81;
  EXPECT_NEAR(f.contact_force.rowwise().sum()[1], weight, 1e-3 * weight);
}

TEST(Bar, HangingUnderGravityStretchesByTheAnalyticValue) {
  // A bar of length L fixed at its upper end: ΔL = ρ g L² / 2E for ν = 0 and small strain.
  const double length = 1, young = 1e6, density = 1000;
  const std::vector<Material> materials = {NeoHookean{lame_parameters(young, 0)},
                                           FixedCorotated{lame_parameters(young, 0)}};
  for (const Material& material : materials)
    for (const MassKind mass : {MassKind::lumped, MassKind::consistent}) {
      SmallScene scene;
      scene.options.dt = 0.5;  // implicit Euler damps: large steps lead to the static state
      scene.options.solver.tolerance = 1e-9;
      scene.bodies.push_back(
          make_volume("bar", generate::box({0.1, length, 0.1}, {1, 20, 1}), material, density, mass));
      std::vector<Index> top;
      for (Index p = 0; p < scene.bodies[0].mesh.point_count(); ++p)
        if (scene.bodies[0].mesh.points(1, p) > 0.5 * length - 1e-9) top.push_back(p);
      add_script(scene.bodies[0], &top, {true, true, true}, {});
      auto s = scene.simulation();
      for (int step = 0; step < 60; ++step) s->step();
      EXPECT_LT(s->state().velocity.cwiseAbs().maxCoeff(), 1e-8);
      const double lowest = s->state().nodes.row(1).minCoeff();
      const double stretch = -0.5 * length - lowest,
                   analytic = density * 9.81 * length * length / (2 * young);
      EXPECT_NEAR(stretch, analytic, 0.01 * analytic);  // 0.5 % strain: both are linear to that order
      EXPECT_EQ(s->frame().bodies[0].kind, prevents_inversion(material) ? "volume" : "invertible_volume");
    }
}

TEST(Dirichlet, HoldsOnlyTheAxesItNames) {
  SmallScene scene;
  scene.bodies.push_back(
      make_volume("box", generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), soft(1e5), 1000, MassKind::lumped));
  set_rigid_velocity(scene.bodies[0], {1, 0, 0.5}, Vector3::Zero());
  add_script(scene.bodies[0], nullptr, {false, true, false}, {});
  auto s = scene.simulation();
  for (int step = 0; step < 10; ++step) s->step();
  const Matrix3X moved_by = s->state().nodes - s->model().initial_nodes;
  EXPECT_EQ(moved_by.row(1).cwiseAbs().maxCoeff(), 0);
  EXPECT_LT((moved_by.row(0).array() - 0.1).abs().maxCoeff(), 1e-12);
  EXPECT_LT((moved_by.row(2).array() - 0.05).abs().maxCoeff(), 1e-12);
}

TEST(Determinism, OneAndTwoThreadsGiveTheSameBits) {
  const auto run = [](int threads) {
    set_thread_count(threads);
    SmallScene scene;
    scene.contact.friction = 0.4;
    scene.options.solver.tolerance = 1e-4;
    for (int i = 0; i < 3; ++i)
      scene.bodies.push_back(make_volume(
          "ball" + std::to_string(i), moved(generate::sphere(0.1, 3), {0.03 * i, 0.11 + 0.215 * i, 0.01 * i}),
          soft(3e4), 1000, MassKind::lumped));
    scene.bodies.push_back(make_obstacle("floor", generate::grid(1, 1, 7, 5)));
    auto s = scene.simulation();
    for (int step = 0; step < 15; ++step) s->step();
    set_thread_count(1);
    return s->state();
  };
  const State one = run(1), two = run(2), four = run(4);
  EXPECT_TRUE(one.nodes == two.nodes && one.velocity == two.velocity);
  EXPECT_TRUE(one.nodes == four.nodes && one.velocity == four.velocity);
}

}  // namespace
}  // namespace apart::test
