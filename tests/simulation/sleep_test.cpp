// Bodies that have come to rest sleep, and wake when something happens to them.
#include <apart/geometry/generators.hpp>
#include <apart/simulation/sleep.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <algorithm>
#include <cmath>

namespace apart::test {
namespace {

constexpr double sleep_tolerance = 1e-4;  // [m/s]
constexpr double weight_of_box = 1000 * 0.2 * 0.2 * 0.2 * 9.81;

Body sleepy_box(const std::string& name, const Vector3& at) {
  const Mesh mesh = moved(generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), at);
  return make_rigid(name, mesh, mass_distribution(mesh, 1000), {});
}

/// Three boxes on each other and one beside them, on the ground, that have a millimetre to fall.
SmallScene heap(double sleeping) {
  SmallScene scene;
  scene.contact.friction = 0.5;
  scene.contact.epsv = sleep_tolerance;  // what leans creeps at some share of it, which must count as rest
  scene.options.solver.tolerance = sleep_tolerance;
  scene.options.solver.sleep_speed = sleeping * sleep_tolerance;
  for (int i = 0; i < 3; ++i)
    scene.bodies.push_back(sleepy_box("box" + std::to_string(i), {0.01 * i, 0.101 + 0.201 * i, 0}));
  scene.bodies.push_back(sleepy_box("beside", {1, 0.101, 0}));
  scene.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  return scene;
}

int sleepers(const Simulation& s) {
  return int((s.state().rest.array() >= 10).count());
}

int steps(Simulation& s, int count) {
  int iterations = 0;
  for (int i = 0; i < count; ++i) iterations += s.step().newton_iterations;
  return iterations;
}

TEST(Sleep, AHeapAtRestIsNotSolvedForAndIsWhereItWouldBe) {
  auto sleeping = heap(0.1).simulation(), awake = heap(0).simulation();
  steps(*sleeping, 100);
  steps(*awake, 100);
  ASSERT_EQ(sleepers(*sleeping), 4);
  EXPECT_EQ(steps(*sleeping, 100), 0);
  EXPECT_GT(steps(*awake, 100), 0);
  EXPECT_EQ(sleepers(*awake), 0);
  const double time = sleeping->state().time;
  EXPECT_LE((sleeping->state().nodes - awake->state().nodes).cwiseAbs().maxCoeff(),
            0.1 * sleep_tolerance * time);
  EXPECT_LE(sleeping->state().velocity.cwiseAbs().maxCoeff(), 0.1 * sleep_tolerance);
}

TEST(Sleep, ForcesOfWhatSleepsAreThoseThatCarryIt) {
  auto s = heap(0.1).simulation();
  steps(*s, 150);
  ASSERT_EQ(sleepers(*s), 4);
  Probe probe;
  probe.kind = Probe::Kind::contact;
  probe.bodies = {0};
  probe.others = {4};
  EXPECT_NEAR(s->measure(probe)[1], 3 * weight_of_box, 1e-3 * weight_of_box);
  probe.bodies = {3};
  EXPECT_NEAR(s->measure(probe)[1], weight_of_box, 1e-3 * weight_of_box);
}

TEST(Sleep, WhatIsHitWakesInTheStepOfTheImpactWithAllThatTouchIt) {
  // A fifth box falls on the stack after it has slept for long.
  const auto hit = [](double sleeping) {
    SmallScene scene = heap(sleeping);
    scene.bodies.insert(scene.bodies.begin() + 4, sleepy_box("late", {0.08, 6.5, 0}));
    return scene.simulation();
  };
  auto s = hit(0.1), awake = hit(0);
  bool slept = false;
  double fastest = 0;  // of the stack, after it has slept
  for (int i = 0; i < 130; ++i) {
    slept |= s->state().rest.size() > 0 && s->state().rest[0] >= 10;
    s->step();
    awake->step();
    EXPECT_TRUE((s->state().rest.head(3).array() == s->state().rest[0]).all()) << i;
    // An impact on something that cannot move would leave another momentum.
    EXPECT_LE((linear_momentum(*s) - linear_momentum(*awake)).norm(),
              0.02 * linear_momentum(*awake).norm() + 0.02)
        << i;
    if (slept) fastest = std::max(fastest, s->state().velocity.leftCols(12).cwiseAbs().maxCoeff());
  }
  EXPECT_TRUE(slept);
  EXPECT_GT(fastest, 0.1);
}

TEST(Sleep, WhatAScriptPushesOrTakesAwayWakes) {
  SmallScene scene = heap(0.1);
  // A ram that meets the box beside after a second, and a table below a box that sinks then.
  Body ram = make_obstacle("ram", moved(generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), {1.3, 0.1, 0}));
  add_script(ram, nullptr, {true, true, true}, rigid_motion([](double t) {
               Pose pose;
               pose.translation.x() = -0.2 * std::max(0.0, t - 1);
               return pose;
             }));
  Body table = make_obstacle("table", moved(generate::box({0.5, 0.1, 0.5}, {1, 1, 1}), {3, 0.5, 0}));
  add_script(table, nullptr, {true, true, true}, rigid_motion([](double t) {
               Pose pose;
               pose.translation.y() = -5 * std::max(0.0, t - 1);  // 5 cm in a step: nothing touches then
               return pose;
             }));
  scene.bodies.push_back(ram);
  scene.bodies.push_back(table);
  scene.bodies.push_back(sleepy_box("on table", {3, 0.651, 0}));
  auto s = scene.simulation();
  steps(*s, 100);
  ASSERT_EQ(sleepers(*s), 5);
  steps(*s, 2);
  EXPECT_EQ(s->state().rest[7], 0) << "falls";
  EXPECT_LT(s->state().velocity(1, s->model().first_node[7]), -0.05);
  EXPECT_GE(s->state().rest[0], 10) << "sleeps on";
  const double before = centre_of_mass(*s, 3).x();
  steps(*s, 130);
  EXPECT_LT(centre_of_mass(*s, 3).x(), before - 0.05);
  EXPECT_GE(s->state().rest[0], 10);
}

TEST(Sleep, WhatALoadActsOnIsAwake) {
  SmallScene scene = heap(0.1);
  Load push;
  push.kind = Load::Kind::force;
  push.field = [](const Vector3&, double) { return Vector3(8, 0, 0); };  // on eight corners of 8 kg
  push.points = all_points(scene.bodies[3]);
  push.when.from = 1;
  scene.bodies[3].loads.push_back(push);
  auto s = scene.simulation();
  steps(*s, 99);
  ASSERT_EQ(sleepers(*s), 4);
  steps(*s, 20);
  EXPECT_EQ(sleepers(*s), 3);
  EXPECT_GT(s->state().velocity(0, s->model().first_node[3]), 0.2);  // 8 − 0.5 · 9.81 m/s²
}

TEST(Sleep, FreeFlightIsNoRest) {
  // At the top of its flight a body is as slow as one at rest.
  SmallScene scene;
  scene.options.solver.tolerance = 10;
  scene.options.solver.sleep_speed = 10;
  Body body = sleepy_box("thrown", {0, 1, 0});
  set_rigid_velocity(body, {0, 0.5, 0}, Vector3::Zero());
  scene.bodies.push_back(body);
  auto s = scene.simulation();
  for (int i = 0; i < 40; ++i) {
    s->step();
    EXPECT_EQ(s->state().rest[0], 0);
  }
}

TEST(Sleep, AStateThatSleepsGoesOnWithTheSameBits) {
  const SmallScene scene = heap(0.1);
  auto s = scene.simulation();
  steps(*s, 60);
  const State kept = s->state();
  steps(*s, 40);
  Simulation resumed(std::make_shared<Model>(s->model()), kept);
  steps(resumed, 40);
  EXPECT_EQ(resumed.state().nodes, s->state().nodes);
  EXPECT_EQ(resumed.state().velocity, s->state().velocity);
  EXPECT_EQ(resumed.state().rest, s->state().rest);
  EXPECT_EQ(resumed.state().friction, s->state().friction);
}

}  // namespace
}  // namespace apart::test
