// The contact stiffness that a step is solved with, and how it grows while gaps shrink.
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <simulation/solved_problem.hpp>

namespace apart::test {
namespace {

constexpr double reach = 1e-3;  // [m] d̂

SmallScene box_over_ground(double gap, double density = 1000) {
  SmallScene scene;
  scene.contact.dhat = reach;
  scene.bodies = {make_volume("box", moved(generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), {0, 0.1 + gap, 0}),
                              soft(1e7), density, MassKind::lumped),
                  make_half_space("ground", Vector3::Zero(), Vector3::UnitY())};
  return scene;
}

/// κ per scale of the step: forces are this times the slope of the barrier.
double chosen(const BegunStep& step) {
  return step.problem.terms.contact.stiffness() / step.problem.time_step.contact_scale;
}

TEST(StiffnessPolicy, TheStiffnessOfTheSceneIsThatOfEveryIntegratorAndDoesNotGrow) {
  for (const Integrator scheme : {Integrator::implicit_euler, Integrator::bdf2, Integrator::newmark}) {
    SmallScene scene = box_over_ground(0.5 * reach);
    scene.options.integrator.scheme = scheme;
    scene.options.contact.barrier_stiffness = 3e4;
    const BegunStep step(scene);
    EXPECT_DOUBLE_EQ(chosen(step), 3e4 / (scene.options.dt * scene.options.dt));
    EXPECT_EQ(step.problem.stiffness.limit(), 0);
  }
}

TEST(StiffnessPolicy, BeforeTheFirstContactItIsProportionalToMass) {
  const double light = chosen(BegunStep(box_over_ground(0.1, 100))),
               heavy = chosen(BegunStep(box_over_ground(0.1, 300)));
  EXPECT_GT(light, 0);
  EXPECT_NEAR(heavy, 3 * light, 1e-12 * heavy);
}

TEST(StiffnessPolicy, FollowsFromTheStateAlone) {
  auto simulation = box_over_ground(0.5 * reach).simulation();
  for (int i = 0; i < 5; ++i) {
    const BegunStep once(*simulation), again(*simulation);
    EXPECT_EQ(chosen(once), chosen(again));
    simulation->step();
    EXPECT_EQ(simulation->state().barrier_stiffness / simulation->state().force_scale, chosen(once))
        << "nothing shrinks so much that it would grow";
  }
}

TEST(StiffnessPolicy, ContactsComeToRestWellInsideTheirReach) {
  for (const double density : {100.0, 1000.0, 10000.0}) {
    auto simulation = box_over_ground(0.9 * reach, density).simulation();
    double share = 0;
    for (int i = 0; i < 60; ++i) share = simulation->step().gap_share;
    // κ follows where it is below 2/3 of the one with which contacts would rest at d̂/2, or above four times
    // that: forces |b′(g²)| g of gaps g of 0.374 and 0.770 d̂ are 3/2 and 1/4 of those of d̂/2.
    EXPECT_GT(share, 0.374) << density;
    EXPECT_LT(share, 0.770) << density;
  }
}

TEST(StiffnessPolicy, AsksForAStepThatHasBegun) {
  const auto simulation = box_over_ground(0.1).simulation();
  Timings timings;
  const Model& model = simulation->model();
  StepProblem problem(model, present_bodies(model, model.options.dt), timings);
  EXPECT_THROW(problem.stiffness.choose(problem.objective, model.initial_nodes), InvariantError);
  EXPECT_THROW(problem.stiffness.limit(), InvariantError);
}

/// A box whose gap to the ground is watched.
struct Watched {
  Watched() : step(box_over_ground(0.5 * reach)), tiny(step.problem.stiffness.tiny_gap()) {}
  Matrix3X at(double gap) const {
    Matrix3X x = step.problem.terms.start;
    x.row(1).array() += gap - x.row(1).minCoeff();
    return x;
  }
  BarrierContact& contact() { return step.problem.terms.contact; }
  bool accept(GapWatch& watch, double gap) {
    contact().prepare(at(gap));
    return watch.accept(at(gap));
  }
  BegunStep step;
  double tiny;
};

TEST(GapWatch, RaisesTheStiffnessWhereATinyGapShrinksAndOnlyThere) {
  Watched w;
  ASSERT_GT(w.tiny, 0);
  GapWatch watch(w.step.problem.stiffness, w.step.problem.terms, w.step.q);
  const double before = w.contact().stiffness();
  EXPECT_FALSE(w.accept(watch, 2 * w.tiny)) << "not tiny";
  EXPECT_FALSE(w.accept(watch, 0.5 * w.tiny)) << "tiny for the first time";
  EXPECT_EQ(w.contact().stiffness(), before);
  EXPECT_TRUE(w.accept(watch, 0.25 * w.tiny)) << "and it shrinks";
  EXPECT_NEAR(w.contact().stiffness(), 4 * before, 1e-6 * before) << "to bring it back to the threshold";
  const double raised = w.contact().stiffness();
  EXPECT_FALSE(w.accept(watch, 0.5 * w.tiny)) << "it grows";
  EXPECT_FALSE(w.accept(watch, 10 * w.tiny));
  EXPECT_EQ(w.contact().stiffness(), raised);
  EXPECT_NEAR(watch.min_gap(), 0.25 * w.tiny, 1e-9 * w.tiny) << "of all iterates";
}

TEST(GapWatch, AsksForContactsThatArePreparedWhereItLooks) {
  Watched w;
  GapWatch watch(w.step.problem.stiffness, w.step.problem.terms, w.step.q);
  w.contact().prepare(w.at(0.4 * reach));
  EXPECT_THROW(watch.accept(w.at(0.3 * reach)), InvariantError);
}

}  // namespace
}  // namespace apart::test
