// Forces and energies where a step has ended.
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/simulation/step_end.hpp>

#include <gtest/gtest.h>
#include <simulation/solved_problem.hpp>

namespace apart::test {
namespace {

constexpr double box_weight = 9.81 * 1000 * 0.2 * 0.2 * 0.2, dhat_of_ground = 1e-3;

/// A box at rest on the ground beside one that hangs by its upper face.
SmallScene standing_and_hanging() {
  SmallScene scene;
  scene.contact.dhat = dhat_of_ground;
  scene.contact.friction = 0.5;
  scene.options.solver.tolerance = 1e-8;
  const auto box = [](const char* name, const Vector3& at) {
    return make_volume(name, moved(generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), at), soft(1e6), 1000,
                       MassKind::lumped);
  };
  Body hanging = box("hanging", {1, 1, 0});
  const std::vector<Index> top = points_where(hanging, [](const Vector3& x) { return x[1] > 1.09; });
  add_script(hanging, &top, {true, true, true}, {});
  scene.bodies = {box("standing", {0, 0.1 + 0.5 * dhat_of_ground, 0}), hanging,
                  make_half_space("ground", Vector3::Zero(), Vector3::UnitY())};
  return scene;
}

/// A step of it when nothing moves any more.
struct AtRest {
  AtRest() : step(*simulated()) {
    EXPECT_TRUE(step.solve().converged);
    end.emplace(step.problem, step.q);
  }
  static std::unique_ptr<Simulation> simulated() {
    auto simulation = standing_and_hanging().simulation();
    for (int i = 0; i < 150; ++i) simulation->step();
    return simulation;
  }
  auto of(int body, const Matrix3X& on_nodes) const {
    const Index first = step.model->first_node[std::size_t(body)];
    return on_nodes.middleCols(first, step.model->first_node[std::size_t(body) + 1] - first);
  }
  BegunStep step;
  std::optional<StepEnd> end;
};

TEST(StepEnd, WhatHoldsABodyCarriesItsWeightAndActsNowhereElse) {
  const AtRest rest;
  const Matrix3X holding = rest.end->holding_forces();
  const Vector3 sum = rest.of(1, holding).rowwise().sum();
  EXPECT_NEAR(sum[1], box_weight, 1e-3 * box_weight);
  EXPECT_LT(std::hypot(sum[0], sum[2]), 1e-3 * box_weight);
  EXPECT_LT(rest.of(0, holding).cwiseAbs().maxCoeff(), 1e-3 * box_weight)
      << "nothing holds the one that stands";
  const auto held = rest.of(1, rest.step.problem.scripted.held().cast<double>().matrix());
  for (Index i = 0; i < held.cols(); ++i)
    if (held.col(i).isZero(0)) EXPECT_LT(rest.of(1, holding).col(i).norm(), 1e-3 * box_weight) << i;
}

TEST(StepEnd, ContactForcesCarryWhatStands) {
  const AtRest rest;
  Vector3 sum = Vector3::Zero();
  const std::vector<ContactForce> contacts = rest.end->contact_forces();
  EXPECT_EQ(contacts.size(), 4u) << "its corners";
  for (const ContactForce& c : contacts) {
    EXPECT_EQ(c.bodies, std::pair(0, 2));
    EXPECT_NEAR(c.weights[0], 1, 1e-12);
    EXPECT_GT(c.distance, 0);
    EXPECT_LT(c.distance, dhat_of_ground);
    sum += c.magnitude * c.direction;
  }
  EXPECT_LT((sum - Vector3(0, box_weight, 0)).norm(), 1e-3 * box_weight);
  // Friction holds the feet of the box, which its weight spreads: as much to each side.
  const Matrix3X friction = rest.end->friction_forces();
  EXPECT_GT(friction.norm(), 1e-2 * box_weight);
  EXPECT_LT(friction.rowwise().sum().norm(), 1e-3 * box_weight);
}

TEST(StepEnd, ContactAcceleratesWhatItTouchesAgainstGravityAndNothingThatIsHeld) {
  const AtRest rest;
  const Matrix3X a = rest.end->contact_acceleration();
  const auto& mass = rest.step.model->bodies[0].mass;
  const Vector3 force = (rest.of(0, a) * mass).rowwise().sum();
  EXPECT_LT((force - Vector3(0, box_weight, 0)).norm(), 1e-3 * box_weight);
  EXPECT_TRUE(rest.of(1, a).isZero(0));
}

TEST(StepEnd, ReportsWorkAndEnergyThatBalance) {
  // In free fall gravity does the work m g s, and implicit Euler loses m/2 (g h)² a step.
  SmallScene scene = standing_and_hanging();
  scene.bodies = {make_volume("falling", moved(generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), {0, 0.5, 0}),
                              soft(1e6), 1000, MassKind::lumped),
                  scene.bodies[2]};
  auto falling = scene.simulation();
  const double dt = scene.options.dt, m = box_weight / 9.81;
  for (int i = 1; i < 10; ++i) {
    const StepReport report = falling->step();
    const double fallen = 9.81 * dt * dt * i;
    EXPECT_NEAR(report.work, m * 9.81 * fallen, 1e-9 * box_weight);
    EXPECT_NEAR(report.kinetic_energy, 0.5 * m * std::pow(9.81 * dt * i, 2), 1e-9 * box_weight);
    EXPECT_NEAR(report.energy_gain, -0.5 * m * std::pow(9.81 * dt, 2), 1e-9 * box_weight);
  }
}

TEST(StepEnd, IsVoidOnceTheProblemIsPreparedElsewhere) {
  AtRest rest;
  EXPECT_EQ(rest.end->nodes(), rest.step.q);
  rest.step.problem.objective.prepare(rest.step.state.nodes);
  EXPECT_THROW(rest.end->nodes(), InvariantError);
  EXPECT_THROW(rest.end->vertices(), InvariantError);
  EXPECT_THROW(rest.end->holding_forces(), InvariantError);
  EXPECT_THROW(rest.end->contact_forces(), InvariantError);
  EXPECT_THROW(rest.end->friction_forces(), InvariantError);
}

/// A problem prepared at q, and another place.
struct Elsewhere {
  Elsewhere() : step(standing_and_hanging()), there(step.q) {
    step.problem.objective.prepare(step.q);
    there.row(0).array() += 0.01;
  }
  BegunStep step;
  Matrix3X there;
};

TEST(Objective, TermsThatAreWorkedOnBehindItsBackAreNoticed) {
  Elsewhere e;
  Objective& objective = e.step.problem.objective;
  EXPECT_NO_THROW(objective.value());
  e.step.problem.terms.elastic.prepare(e.there);
  EXPECT_THROW(objective.value(), InvariantError);
  EXPECT_THROW(objective.gradient(), InvariantError);
  EXPECT_THROW(objective.hessian(), InvariantError);
  objective.prepare(e.step.q);
  EXPECT_NO_THROW(objective.hessian());
  e.step.problem.terms.contact.prepare(e.step.model->surface_map.positions(e.there));
  EXPECT_THROW(objective.value(), InvariantError);
}

TEST(Objective, GradientsAreVoidOnceItIsPreparedAgain) {
  Elsewhere e;
  StepProblem& p = e.step.problem;
  const Gradient gradient(p.objective);
  EXPECT_GE(p.force_balance(gradient).share, 0);
  EXPECT_GE(p.longest_step(gradient), 0);
  p.objective.prepare(e.there);
  EXPECT_THROW(p.force_balance(gradient), InvariantError);
  EXPECT_THROW(p.longest_step(gradient), InvariantError);
  EXPECT_THROW(p.objective.hessian(Projection::psd, gradient), InvariantError);
}

TEST(Objective, WhatIsAskedOfContactsIsAskedWhereTheyArePrepared) {
  Elsewhere e;
  StepProblem& p = e.step.problem;
  const Matrix3X x = e.step.model->surface_map.positions(e.there);
  EXPECT_THROW(p.lag_friction(x), InvariantError);
  EXPECT_THROW(p.terms.contact.active_set(x), InvariantError);
  EXPECT_THROW(p.terms.contact.mean_gap_share(x), InvariantError);
  ASSERT_GT(p.terms.contact.term_count(), 0);
  EXPECT_THROW(p.terms.contact.normal_force(0, x), InvariantError);
  EXPECT_THROW(p.terms.elastic.largest_strains(e.there), InvariantError);
  EXPECT_THROW(p.terms.elastic.smallest_volume_ratio(e.there), InvariantError);
}

}  // namespace
}  // namespace apart::test
