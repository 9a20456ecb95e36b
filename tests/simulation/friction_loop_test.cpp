// How often a step is solved again because friction has changed.
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <simulation/solved_problem.hpp>

namespace apart::test {
namespace {

constexpr double dhat_of_slide = 1e-3;  // [m] d̂

/// A box that slides on the ground, where it rests.
SmallScene sliding_box(double friction, int iterations) {
  SmallScene scene;
  scene.contact.dhat = dhat_of_slide;
  scene.contact.friction = friction;
  scene.options.contact.friction_iterations = iterations;
  Body box =
      make_volume("box", moved(generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), {0, 0.1 + 0.5 * dhat_of_slide, 0}),
                  soft(1e6), 1000, MassKind::lumped);
  set_rigid_velocity(box, {0.7, 0, 0.2}, Vector3::Zero());
  scene.bodies = {box, make_half_space("ground", Vector3::Zero(), Vector3::UnitY())};
  return scene;
}

/// A step of it in the middle of its way.
BegunStep sliding(double friction, int iterations) {
  auto simulation = sliding_box(friction, iterations).simulation();
  for (int i = 0; i < 3; ++i) simulation->step();
  return BegunStep(*simulation);
}

TEST(FrictionLoop, WithoutFrictionThereIsOneSolve) {
  for (const int iterations : {0, 1, 5}) {
    BegunStep step = sliding(0, iterations);
    EXPECT_TRUE(step.solve({.fresh = true}).converged);
    EXPECT_EQ(step.report.friction_iterations, 1);
  }
}

TEST(FrictionLoop, SolvesAsOftenAsTheSceneAsksForAndOnceMoreAtTheStart) {
  for (const int iterations : {1, 2}) {
    BegunStep step = sliding(0.3, iterations), fresh = sliding(0.3, iterations);
    EXPECT_TRUE(step.solve().converged);
    EXPECT_EQ(step.report.friction_iterations, iterations);
    EXPECT_TRUE(fresh.solve({.fresh = true}).converged);
    EXPECT_EQ(fresh.report.friction_iterations, iterations + 1);
  }
}

TEST(FrictionLoop, WhereItHasSettledLaggedForcesAreThoseOfTheEnd) {
  BegunStep once = sliding(0.3, 1), settled = sliding(0.3, 0);
  const auto change = [](BegunStep& step) {
    const FrictionResult result = step.solve();
    EXPECT_TRUE(result.converged);
    EXPECT_TRUE(result.unsettled.empty());
    StepProblem& p = step.problem;
    p.objective.prepare(step.q);
    Friction renewed = p.terms.friction;
    renewed.set_lag(p.terms.contact, p.objective.vertices(), p.dt);
    return renewed.largest_change(p.terms.friction).share;
  };
  const double first = change(once), last = change(settled);
  EXPECT_GT(settled.report.friction_iterations, 1);
  EXPECT_LT(last, 1e-3);
  EXPECT_LT(last, first);
}

TEST(FrictionLoop, GivesUpAfterTheSolvesItMayMakeAndSaysBetweenWhom) {
  BegunStep step = sliding(0.3, 0);
  const FrictionResult result = step.solve({.most_solves = 1});
  EXPECT_TRUE(result.converged) << "the last solve is accepted";
  EXPECT_EQ(step.report.friction_iterations, 1);
  EXPECT_NE(result.unsettled.find("not settled in 1 solves"), std::string::npos) << result.unsettled;
  EXPECT_NE(result.unsettled.find("'box' and 'ground'"), std::string::npos) << result.unsettled;
}

TEST(FrictionLoop, CountsTheIterationsOfAllSolves) {
  BegunStep one = sliding(0.3, 1), two = sliding(0.3, 2);
  one.solve();
  two.solve();
  EXPECT_GE(two.report.newton_iterations, one.report.newton_iterations);
  EXPECT_GE(two.report.linear_solves, two.report.newton_iterations - two.report.friction_iterations);
}

}  // namespace
}  // namespace apart::test
