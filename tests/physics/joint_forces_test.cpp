// Joints: what they carry, how exactly they hold, with contact, and the same bits every time.
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>

#include <gtest/gtest.h>
#include <physics/jointed_scene.hpp>
#include <support/small_scene.hpp>

#include <cmath>

namespace apart::test {
namespace {

// ---- Forces -----------------------------------------------------------------------------------------------

TEST(Joints, EveryKindCarriesAHangingWeight) {
  for (const char* kind : {R"("ball")", R"("hinge", "axis": [0, 0, 1])", R"("slider", "axis": [1, 0, 0])",
                           R"("cylinder", "axis": [0, 0, 1])", R"("fixed")"}) {
    const Scene scene = jointed_scene(
        R"({"dt": 0.01, "steps": 5})", jointed_box("weight", {0.1, 0.2, 0.1}, {0, -0.1, 0}, R"(, "mass": 7)"),
        fmt::format(R"({{"type": {}, "bodies": ["weight"], "at": [0, 0, 0]}})", kind));
    Simulation s(scene.model);
    for (Index step = 0; step < scene.steps; ++step) s.step();
    EXPECT_LT((reading(s, 0).force - Vector3(0, 7 * earth, 0)).norm(), 1e-3 * 7 * earth) << kind;
    EXPECT_LT(reading(s, 0).torque.norm(), 1e-3 * 7 * earth * 0.1) << kind;
    EXPECT_LT(s.state().velocity.cwiseAbs().maxCoeff(), 1e-4) << kind;
  }
}

TEST(Joints, AFixedJointCarriesTheTorqueOfALever) {
  const Scene scene = jointed_scene(R"({"dt": 0.01, "steps": 5})",
                                    jointed_box("lever", {0.5, 0.05, 0.05}, {0.25, 0, 0}, R"(, "mass": 4)"),
                                    R"({"type": "fixed", "bodies": ["lever"], "at": [0, 0, 0]})");
  Simulation s(scene.model);
  for (Index step = 0; step < scene.steps; ++step) s.step();
  EXPECT_NEAR(reading(s, 0).torque[2], 4 * earth * 0.25, 1e-3 * earth);
  EXPECT_NEAR(reading(s, 0).force[1], 4 * earth, 4e-3 * earth);
}

TEST(Joints, BalanceForcesInQuasiStaticSteps) {
  // A lever on a spring: k θ = m g l cos θ.
  const Scene scene = jointed_scene(
      R"({"dt": 0.1, "steps": 3, "integrator": "quasi_static"})",
      jointed_box("lever", {0.5, 0.05, 0.05}, {0.25, 0, 0}, R"(, "mass": 2)"),
      R"({"type": "hinge", "bodies": ["lever"], "at": [0, 0, 0], "axis": [0, 0, 1], "angle": {"stiffness": 10}})");
  Simulation s(scene.model);
  for (Index step = 0; step < scene.steps; ++step) s.step();
  const double angle = -reading(s, 0).angle * in_radians;
  EXPECT_NEAR(10 * angle, 2 * earth * 0.25 * std::cos(angle), 1e-2);
  EXPECT_NEAR(reading(s, 0).force[1], 2 * earth, 1e-3 * earth);
}

TEST(Joints, OneBreaksAtTheLoadThatIsComputed) {
  // 2 kg, pulled by 5 t m/s² besides gravity: 2 (9.81 + 5 t) passes 30 N at t = 1.038 s.
  const Scene scene = jointed_scene(
      R"({"dt": 0.01, "tend": 1.3})",
      jointed_box("weight", {0.1, 0.1, 0.1}, {0, 0, 0},
                  R"(, "mass": 2, "loads": [{"type": "body_force", "acceleration": [0, "-5*t", 0]}])"),
      R"({"type": "ball", "name": "hook", "bodies": ["weight"], "at": [0, 0.05, 0], "breaking_force": 30})");
  Simulation s(scene.model);
  std::vector<std::string> notes;
  s.on_note = [&](const std::string& what) { notes.push_back(what); };
  double broke = 0;
  for (Index step = 0; step < scene.steps; ++step)
    if (s.step().broken_joints > 0) broke = s.state().time;
  EXPECT_NEAR(broke, (30.0 / 2 - earth) / 5, 0.0101);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("'hook'"), std::string::npos) << notes[0];
  EXPECT_EQ(reading(s, 0).force.norm(), 0);
  EXPECT_LT(s.state().velocity.row(1).maxCoeff(), -3) << "it falls";
}

TEST(Joints, OneHoldsFromItsBeginToItsEnd) {
  // Falls for 0.2 s, is caught as it is then, and let go after 0.5 s.
  const Scene scene = jointed_scene(
      R"({"dt": 0.01, "tend": 0.6})",
      jointed_box("weight", {0.1, 0.1, 0.1}, {0, 0, 0}, R"(, "mass": 2, "angular_velocity": [0, 0, 90])"),
      R"({"type": "fixed", "bodies": ["weight"], "at": [0, 0.05, 0], "from": 0.2, "until": 0.5})");
  Simulation s(scene.model);
  Matrix3X caught;
  for (Index step = 1; step <= scene.steps; ++step) {
    s.step();
    if (step == 20) {
      caught = s.state().nodes;
      EXPECT_LT(caught.row(1).mean(), -0.19);
    } else if (step > 20 && step <= 50) {
      EXPECT_LT((s.state().nodes - caught).colwise().norm().maxCoeff(), 1e-6) << step;
    }
  }
  EXPECT_LT(s.state().nodes.row(1).mean(), caught.row(1).mean() - 0.04);
}

// ---- Accuracy ---------------------------------------------------------------------------------------------

TEST(Joints, SlowADoublePendulumDoesNotDriftApartInTenThousandSteps) {
  const Scene scene =
      jointed_scene(R"({"dt": 0.01, "steps": 10000, "integrator": "bdf2"})",
                    jointed_box("upper", {0.5, 0.04, 0.04}, {0.25, 0, 0}) + "," +
                        jointed_box("lower", {0.5, 0.04, 0.04}, {0.75, 0, 0.06}),
                    R"({"type": "hinge", "bodies": ["upper"], "at": [0, 0, 0], "axis": [0, 0, 1]},
         {"type": "hinge", "bodies": ["lower", "upper"], "at": [0.5, 0, 0], "axis": [0, 0, 1], "contact": false})");
  Simulation s(scene.model);
  double open = 0, tilted = 0;
  for (Index step = 0; step < scene.steps; ++step) {
    s.step();
    if (step % 10 != 0 && step < scene.steps - 100) continue;
    open = std::max({open, carried(s, 0, Vector3::Zero()).norm(),
                     (carried(s, 1, {0.5, 0, 0}) - carried(s, 0, {0.5, 0, 0})).norm()});
    tilted = std::max(tilted, std::abs(carried(s, 1, {1, 0, 0})[2]));
  }
  // The bound: 1e-6 of the smaller body in each coordinate, whatever the number of steps.
  EXPECT_LT(open, std::sqrt(3.0) * 1e-6 * 0.51);
  EXPECT_LT(tilted, 1e-5);
}

TEST(Joints, AffineAndRigidBodiesMoveAlike) {
  Matrix3X ends(3, 2);
  int k = 0;
  for (const char* kind : {"rigid", "affine"}) {
    const Scene scene = jointed_scene(
        R"({"dt": 0.01, "steps": 40})",
        fmt::format(R"({{"type": "{}", "name": "a", "mesh": {{"generator": "box", "size": [0.5, 0.1, 0.1]}},
          "transform": {{"translate": [0.25, 0, 0]}}}})",
                    kind),
        R"({"type": "hinge", "bodies": ["a"], "at": [0, 0, 0], "axis": [0, 0, 1]})");
    Simulation s(scene.model);
    for (Index step = 0; step < scene.steps; ++step) s.step();
    ends.col(k++) = carried(s, 0, {0.5, 0, 0});
  }
  EXPECT_LT((ends.col(0) - ends.col(1)).norm(), 5e-3);
}

// ---- With contact -----------------------------------------------------------------------------------------

TEST(Joints, AHingedLidLiesOnWhatIsUnderIt) {
  const Scene scene =
      jointed_scene(R"({"dt": 0.01, "tend": 1})",
                    jointed_box("lid", {0.4, 0.02, 0.2}, {0.2, 0.2, 0}, R"(, "mass": 1)") + "," +
                        jointed_box("block", {0.1, 0.1, 0.1}, {0.3, 0.051, 0}, R"(, "mass": 5)") +
                        R"(, {"type": "half_space", "name": "ground"})",
                    R"({"type": "hinge", "bodies": ["lid"], "at": [0, 0.2, 0], "axis": [0, 0, 1]})",
                    R"(, "contact": {"friction_coefficient": 0.6})");
  Simulation s(scene.model);
  for (Index step = 0; step < scene.steps; ++step) s.step();
  expect_intersection_free(s);
  EXPECT_LT(s.state().velocity.cwiseAbs().maxCoeff(), 1e-2);
  const std::vector<double> contact = s.measure({"", Probe::Kind::contact, {0}, {1}, {}});
  const Vector3 on_lid(contact[0] + contact[3], contact[1] + contact[4], contact[2] + contact[5]);
  EXPECT_LT((on_lid + reading(s, 0).force - Vector3(0, earth, 0)).norm(), 1e-2 * earth);
  EXPECT_GT(on_lid[1], 0.5 * earth) << "the block carries more of it than the hinge";
}

TEST(Joints, SlowAGripperLiftsASoftBall) {
  const auto finger = [](const std::string& name, double x) {
    return fmt::format(
        R"({{"type": "slider", "bodies": ["{}", "palm"], "at": [{}, 0.24, 0], "axis": [{}, 0, 0],
      "contact": false, "position": {{"limits": [0, 0.09],
      "motor": {{"position": [[0.2, 0], [0.5, 0.09]], "max_force": 8}}}}}})",
        name, x, x < 0 ? 1 : -1);
  };
  const Scene scene = jointed_scene(
      R"({"dt": 0.01, "tend": 1})",
      jointed_box("palm", {0.3, 0.03, 0.06}, {0, 0.26, 0}) + "," +
          jointed_box("left", {0.02, 0.16, 0.06}, {-0.1, 0.15, 0}) + "," +
          jointed_box("right", {0.02, 0.16, 0.06}, {0.1, 0.15, 0}) +
          R"(, {"type": "volume", "name": "ball", "mesh": {"generator": "sphere", "radius": 0.06, "resolution": 3},
              "transform": {"translate": [0, 0.061, 0]},
              "material": {"type": "neo_hookean", "E": 2e4, "nu": 0.4, "rho": 500}},
             {"type": "half_space", "name": "ground"})",
      finger("left", -0.1) + "," + finger("right", 0.1) +
          R"(, {"type": "slider", "name": "lift", "bodies": ["palm"], "at": [0, 0.26, 0], "axis": [0, 1, 0],
              "position": {"motor": {"position": [[0, 0], [0.2, -0.06], [0.5, -0.06], [1, 0.1]], "max_force": 100}}})",
      R"(, "contact": {"friction_coefficient": 0.8})");
  Simulation s(scene.model);
  for (Index step = 0; step < scene.steps; ++step) s.step();
  expect_intersection_free(s);
  EXPECT_GT(centre_of_mass(s, 3)[1], 0.061 + 0.12) << "the palm has gone up by 0.16 m, and the ball with it";
  EXPECT_NEAR(reading(s, 0).force[0], 8, 1e-6) << "what it holds the ball with";
  const double weight = total_mass(scene.model->bodies[3]) * earth;
  EXPECT_NEAR(s.measure({"", Probe::Kind::contact, {3}, {1}, {}})[4] +
                  s.measure({"", Probe::Kind::contact, {3}, {2}, {}})[4],
              weight, 0.2 * weight)
      << "friction carries it";
}

TEST(Joints, ABallJointHoldsAPointOfASoftBody) {
  const Scene scene = jointed_scene(
      R"({"dt": 0.01, "tend": 0.5})",
      R"({"type": "volume", "name": "jelly", "mesh": {"generator": "box", "size": [0.2, 0.2, 0.2], "cells": [3, 3, 3]},
          "material": {"type": "neo_hookean", "E": 5e4, "nu": 0.4, "rho": 1000}})",
      R"({"type": "ball", "bodies": ["jelly"], "at": [0.02, 0.1, 0.03]})");
  Simulation s(scene.model);
  const JointSide& side = scene.model->joints[0].sides[0];
  double force = 0;
  for (Index step = 0; step < scene.steps; ++step) {
    s.step();
    Vector3 held = Vector3::Zero();
    const auto& points = scene.model->bodies[0].sets[side.points];
    for (std::size_t k = 0; k < points.size(); ++k)
      held += side.weights[Index(k)] * s.state().nodes.col(points[k]);
    EXPECT_LT((held - Vector3(0.02, 0.1, 0.03)).norm(), 1e-6) << step;
    if (step >= scene.steps / 2) force += reading(s, 0).force[1] / (scene.steps - scene.steps / 2);
  }
  EXPECT_NEAR(force, 8 * earth, 0.15 * 8 * earth) << "it swings, but on average its weight hangs there";
}

// ---- The same bits ----------------------------------------------------------------------------------------

TEST(Joints, GiveTheSameBitsForAnyNumberOfThreadsAndFromAnyState) {
  const Scene scene = jointed_scene(
      R"({"dt": 0.01, "steps": 20})",
      jointed_box("a", {0.4, 0.05, 0.05}, {0.2, 0, 0}) + "," +
          jointed_box("b", {0.4, 0.05, 0.05}, {0.6, 0, 0.06}) + "," +
          jointed_box("c", {0.1, 0.1, 0.1}, {0.9, 0, 0.06}),
      R"({"type": "hinge", "bodies": ["a"], "at": [0, 0, 0], "axis": [0, 0, 1], "angle": {"motor": {"velocity": 500}}},
         {"type": "cylinder", "bodies": ["b", "a"], "at": [0.4, 0, 0.03], "axis": [0, 0.1, 1], "contact": false,
          "angle": {"friction": 0.01}, "position": {"limits": [-0.01, 0.01], "stiffness": 100}},
         {"type": "fixed", "bodies": ["c", "b"], "at": [0.8, 0, 0.06], "from": 0.05})");
  const auto run = [&](int threads, bool stop) {
    set_thread_count(threads);
    auto s = std::make_unique<Simulation>(scene.model);
    for (Index step = 0; step < scene.steps; ++step) {
      if (stop && step == 11) s = std::make_unique<Simulation>(scene.model, State(s->state()));
      s->step();
    }
    return s->state();
  };
  const State one = run(1, false), two = run(2, false), resumed = run(2, true);
  set_thread_count(1);
  for (const State* other : {&two, &resumed}) {
    EXPECT_EQ(one.nodes, other->nodes);
    EXPECT_EQ(one.joint_forces, other->joint_forces);
    EXPECT_EQ(one.joint_angles, other->joint_angles);
  }
}

// ---- What cannot be ---------------------------------------------------------------------------------------

TEST(Joints, ThatComeToContradictEachOtherAreNamed) {
  // A lever that a motor turns until another joint takes hold of its end.
  const Scene scene = jointed_scene(
      R"({"dt": 0.01, "steps": 3})", jointed_box("lever", {0.5, 0.05, 0.05}, {0.25, 0, 0}),
      R"({"type": "hinge", "name": "drive", "bodies": ["lever"], "at": [0, 0, 0], "axis": [0, 0, 1],
          "angle": {"motor": {"velocity": 90}}},
         {"type": "ball", "name": "hook", "bodies": ["lever"], "at": [0.5, 0, 0], "from": 0.02})");
  Simulation s(scene.model);
  s.step();
  s.step();
  const State before = s.state();
  try {
    s.step();
    ADD_FAILURE() << "must not be solved";
  } catch (const SolverError& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("step 3"), std::string::npos) << message;
    EXPECT_TRUE(message.find("'drive'") != std::string::npos || message.find("'hook'") != std::string::npos)
        << message;
  }
  EXPECT_EQ(s.state().nodes, before.nodes);
  EXPECT_EQ(s.state().joint_forces, before.joint_forces);
}

}  // namespace
}  // namespace apart::test
