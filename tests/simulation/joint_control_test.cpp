// Joints in the solve of a step: multipliers move on until every coordinate is where it should be.
#include <apart/bodies/mass_distribution.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <simulation/solved_problem.hpp>

namespace apart::test {
namespace {

constexpr double mass = 1000 * 0.2 * 0.2 * 0.2, weight = 9.81 * mass;

/// A rigid box that hangs by its upper face on the world, its centre a given way beside the pivot.
std::unique_ptr<Simulation> hanging(JointKind kind, const Vector3& beside, double largest_force = infinity) {
  const Mesh mesh = generate::box({0.2, 0.2, 0.2}, {1, 1, 1});
  Joint joint;
  joint.name = "hook";
  joint.kind = kind;
  joint.sides[0].body = 0;
  joint.sides[0].pivot = joint.sides[1].pivot = Vector3(0, 0.1, 0) - beside;
  joint.arm = 0.2;
  joint.largest_force = largest_force;
  SimulationOptions options;
  options.dt = 0.01;
  options.solver.tolerance = 1e-6;
  const std::vector<Body> bodies = {make_rigid("box", mesh, mass_distribution(mesh, 1000))};
  return std::make_unique<Simulation>(std::make_shared<Model>(bodies, PairTable(1, PairSettings{}), options,
                                                              std::vector<Attachment>{}, std::vector{joint}));
}

constexpr JointKind kinds[] = {JointKind::ball, JointKind::hinge, JointKind::slider, JointKind::cylinder,
                               JointKind::fixed};

TEST(JointControl, GoesOnUntilEveryCoordinateIsWithinItsTolerance) {
  for (const JointKind kind : kinds) {
    SCOPED_TRACE(int(kind));
    BegunStep step(*hanging(kind, {0.1, 0, 0.05}));
    JointControl& joints = step.problem.joints;
    EXPECT_LE(joints.largest_error(step.q), 1) << "closed where it is made";
    Matrix3X open = step.q;
    open.colwise() += Vector3(1e-3, -1e-3, 0);
    EXPECT_GT(joints.largest_error(open), 1);
    EXPECT_NE(joints.complaint(open).find("'hook'"), std::string::npos) << joints.complaint(open);
    EXPECT_TRUE(step.solve().converged);
    EXPECT_LE(joints.largest_error(step.q), 1) << "closed where the solve ends";
    EXPECT_TRUE(joints.complaint(step.q).empty()) << joints.complaint(step.q);
    EXPECT_FALSE(joints.update(step.q)) << "nothing is left to do";
  }
}

TEST(JointControl, WhatIsOpenIsNotDone) {
  BegunStep step(*hanging(JointKind::ball, Vector3::Zero()));
  Matrix3X open = step.q;
  open.row(1).array() -= 1e-3;
  EXPECT_TRUE(step.problem.joints.update(open));
}

TEST(JointControl, GivesUpWhereMultipliersDoNotSettle) {
  BegunStep step(*hanging(JointKind::ball, Vector3::Zero()));
  Matrix3X open = step.q;
  open.row(1).array() -= 1e-3;  // and nobody moves it
  EXPECT_THROW(
      {
        for (int i = 0; i < 1000; ++i) step.problem.joints.update(open);
      },
      SolverError);
}

TEST(JointControl, AHookCarriesTheWeightAndRemembersItsForcesInTheState) {
  BegunStep step(*hanging(JointKind::fixed, Vector3::Zero()));
  ASSERT_TRUE(step.solve().converged);
  const JointMeasure measured = step.problem.joints.measure(0, step.q);
  EXPECT_TRUE(measured.acts);
  EXPECT_NEAR(measured.force[1], weight, 1e-3 * weight);
  EXPECT_LT(measured.torque.norm(), 1e-3 * weight * 0.2);
  State next = step.state;
  EXPECT_TRUE(step.problem.joints.finish(step.q, next).empty());
  EXPECT_EQ(next.joint_forces.size(), JointStateSizes(*step.model).forces);
  EXPECT_GT(next.joint_forces.norm(), 0);
  EXPECT_NEAR(step.problem.joints.work(step.q), 0, 1e-9 * weight) << "what holds does no work";
}

TEST(JointControl, BreaksBeyondItsForceAndDoesNotActAfterwards) {
  BegunStep step(*hanging(JointKind::ball, Vector3::Zero(), 0.5 * weight));
  ASSERT_TRUE(step.solve().converged);
  State next = step.state;
  EXPECT_EQ(step.problem.joints.finish(step.q, next).size(), 1u);
  next.nodes = step.q;
  next.time += step.model->options.dt;
  const BegunStep after(Simulation(step.model, next));
  EXPECT_FALSE(after.problem.joints.measure(0, next.nodes).acts);
  EXPECT_EQ(after.problem.terms.joints.term_count(), 0);
}

}  // namespace
}  // namespace apart::test
