// Bodies that come and go.
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <utility>

namespace apart::test {
namespace {

TEST(Presence, ABodyIsAbsentThenAppearsWithItsVelocity) {
  for (const Integrator scheme : {Integrator::implicit_euler, Integrator::bdf2, Integrator::newmark}) {
    SmallScene scene;
    scene.options.integrator.scheme = scheme;
    scene.bodies.push_back(
        make_volume("late", generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), soft(), 1000, MassKind::lumped));
    set_rigid_velocity(scene.bodies[0], {1, 0, 0}, Vector3::Zero());
    scene.bodies[0].presence.from = 0.1;
    // Passes through the place of the other before that is there.
    scene.bodies.push_back(make_affine("early", moved(generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), {0, 0.3, 0}),
                                       Orthogonality{1e8}, 1000));
    set_rigid_velocity(scene.bodies[1], {0, -10, 0}, Vector3::Zero());
    auto s = scene.simulation();
    for (int step = 0; step < 10; ++step) {
      const StepReport r = s->step();
      EXPECT_EQ(r.contacts, 0);
      EXPECT_EQ(s->absent(), std::vector<int>{0});
      EXPECT_EQ(s->frame().absent, std::vector<int>{0});
    }
    EXPECT_EQ(s->state().nodes.leftCols(8), s->model().initial_nodes.leftCols(8));
    EXPECT_LT(centre_of_mass(*s, 1)[1], -0.3);
    for (int step = 0; step < 5; ++step) s->step();
    EXPECT_TRUE(s->absent().empty());
    const Vector3 moved_by = centre_of_mass(*s, 0);
    EXPECT_NEAR(moved_by[0], 0.05, 1e-9);
    // Five steps of free fall from rest, as each rule has them: t²/2 = 12.5 dt² for Newmark, 15 dt² for
    // implicit Euler; BDF2 counts what was before as rest.
    double fall[2] = {0, 0}, speed[2] = {0, 0};  // of this step and the one before, in g dt² and g dt
    for (int step = 0; step < 5; ++step) {
      const double v = (4 * speed[0] - speed[1] + 2) / 3, y = (4 * fall[0] - fall[1] + 2 * v) / 3;
      speed[1] = std::exchange(speed[0], v);
      fall[1] = std::exchange(fall[0], y);
    }
    const double steps = scheme == Integrator::newmark          ? 12.5
                         : scheme == Integrator::implicit_euler ? 15
                                                                : fall[0];
    EXPECT_NEAR(moved_by[1], -9.81 * 1e-4 * steps, 1e-9) << int(scheme);
  }
}

TEST(Presence, NewmarkBeginsWithTheLoadsOfTheTimeABodyAppears) {
  SmallScene scene;
  scene.options.integrator.scheme = Integrator::newmark;
  scene.bodies.push_back(
      make_volume("late", generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), soft(), 1000, MassKind::lumped));
  scene.bodies[0].presence.from = 0.1;
  Load wind;
  wind.field = [](const Vector3&, double t) -> Vector3 { return {t > 0.05 ? 3.0 : -40.0, 0, 0}; };
  wind.points = all_points(scene.bodies[0]);
  scene.bodies[0].loads.push_back(wind);
  auto s = scene.simulation();
  for (int step = 0; step < 20; ++step) s->step();
  // Constant accelerations are exact: x = a t²/2.
  EXPECT_NEAR(centre_of_mass(*s, 0)[0], 0.5 * 3 * 0.01, 1e-9);
  EXPECT_NEAR(centre_of_mass(*s, 0)[1], -0.5 * 9.81 * 0.01, 1e-9);
}

TEST(Presence, WhatStoodOnABodyFallsWhenItDisappears) {
  SmallScene scene;
  scene.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  scene.bodies.push_back(make_volume("below",
                                     moved(generate::box({0.2, 0.2, 0.2}, {2, 2, 2}), {0, 0.1008, 0}),
                                     soft(1e6), 1000, MassKind::lumped));
  scene.bodies.push_back(make_volume("above",
                                     moved(generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), {0, 0.2515, 0}),
                                     soft(1e6), 1000, MassKind::lumped));
  scene.bodies[1].presence.until = 0.1;
  auto s = scene.simulation();
  for (int step = 0; step < 10; ++step) s->step();
  EXPECT_NEAR(centre_of_mass(*s, 2)[1], 0.2515, 1e-3) << "held where it was put, but for the gaps";
  for (int step = 0; step < 30; ++step) {
    s->step();
    expect_intersection_free(*s);
  }
  EXPECT_GT(centre_of_mass(*s, 2)[1], 0.0499);
  EXPECT_LT(centre_of_mass(*s, 2)[1], 0.05 + scene.contact.dhat) << "it lies on the ground";
  EXPECT_EQ(s->absent(), std::vector<int>{1});
}

TEST(Presence, ABodyThatHasNoRoomToAppearIsReportedAndTheStateKept) {
  SmallScene scene;
  scene.bodies.push_back(
      make_volume("there", generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), soft(), 1000, MassKind::lumped));
  add_script(scene.bodies[0], nullptr, {true, true, true}, {});
  scene.bodies.push_back(make_volume("newcomer",
                                     moved(generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), {0.1, 0.05, 0.02}),
                                     soft(), 1000, MassKind::lumped));
  scene.bodies[1].presence.from = 0.02;
  auto s = scene.simulation();
  s->step();
  s->step();
  try {
    s->step();
    FAIL();
  } catch (const SolverError& e) {
    EXPECT_NE(
        std::string(e.what()).find("'newcomer' cannot appear after t = 0.02 s: it would intersect 'there'"),
        std::string::npos)
        << e.what();
  }
  EXPECT_EQ(s->state().step, 2);
}

TEST(Presence, NothingStartsOrAppearsInsideASolidUnlessTheModelAllowsIt) {
  for (const bool affine : {false, true})
    for (const bool late : {false, true})
      for (const bool solid_is_late : {false, true}) {
        if (solid_is_late && !late) continue;
        SmallScene scene;
        scene.options.gravity.setZero();
        const Mesh big = generate::box({1, 1, 1}, {2, 2, 2}),
                   small = generate::box({0.2, 0.2, 0.2}, {1, 1, 1});
        scene.bodies.push_back(affine ? make_affine("host", big, Orthogonality{1e8}, 1000)
                                      : make_volume("host", big, soft(), 1000, MassKind::lumped));
        scene.bodies.push_back(
            make_volume("guest", moved(small, {0.2, 0.1, 0}), soft(), 1000, MassKind::lumped));
        if (late) scene.bodies[solid_is_late ? 0 : 1].presence.from = 0.02;
        scene.options.contact.allow_nested = true;
        auto allowed = scene.simulation();
        for (int step = 0; step < 3; ++step) EXPECT_NO_THROW(allowed->step());

        scene.options.contact.allow_nested = false;
        auto s = scene.simulation();
        if (!late) {
          try {
            s->step();
            FAIL() << "the guest was not found";
          } catch (const InputError& e) {
            EXPECT_NE(std::string(e.what()).find("'guest' is inside the solid 'host'"), std::string::npos)
                << e.what();
          }
          EXPECT_EQ(s->state().step, 0);
          continue;
        }
        s->step();
        s->step();
        try {
          s->step();
          FAIL() << "the guest was not found";
        } catch (const SolverError& e) {
          EXPECT_NE(std::string(e.what()).find(
                        solid_is_late ? "'host' cannot appear after t = 0.02 s: it would enclose 'guest'"
                                      : "'guest' cannot appear after t = 0.02 s: it would lie inside 'host'"),
                    std::string::npos)
              << e.what();
        }
        EXPECT_EQ(s->state().step, 2);
      }
}

TEST(Presence, ABodyCannotAppearWithinTheThicknessOfAnother) {
  SmallScene scene;
  scene.contact.thickness = 0.05;
  scene.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  scene.bodies.push_back(make_volume("box", moved(generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), {0, 0.12, 0}),
                                     soft(), 1000, MassKind::lumped));
  scene.bodies[1].presence.from = 0.02;
  auto s = scene.simulation();
  s->step();
  s->step();
  try {
    s->step();
    FAIL();
  } catch (const SolverError& e) {
    EXPECT_NE(std::string(e.what()).find("it would come 0.03 m below the thickness to 'ground'"),
              std::string::npos)
        << e.what();
  }
}

TEST(Presence, AFailedStepLeavesTheSameBodiesPresent) {
  // The step in which a limited cloth appears may not take a second iteration.
  SmallScene scene;
  scene.options.solver.max_iterations = 1;
  ShellSubstance substance = cotton(0.01);
  substance.limit = StretchLimit{.upper = 1.05};
  Body cloth = make_shell("cloth", moved(generate::grid(0.2, 0.2, 3, 3), {0, 0.1005, 0}), substance);
  const std::vector<Index> corner = {0};
  add_script(cloth, &corner, {true, true, true}, {});
  cloth.presence.from = 0.02;
  scene.bodies = {cloth, make_obstacle("block", generate::box({0.1, 0.2, 0.1}, {1, 1, 1}))};
  const auto s = scene.simulation();
  s->step();
  s->step();
  EXPECT_THROW(s->step(), SolverError);
  EXPECT_EQ(s->state().step, 2);
  EXPECT_EQ(s->absent(), std::vector<int>{0});
  EXPECT_EQ(s->frame().absent, std::vector<int>{0});
  EXPECT_THROW(s->step(), SolverError) << "it can be tried again";
}

}  // namespace
}  // namespace apart::test
