// Simulations whose work is divided among the processes of a team, here threads: what they find is what one
// process finds, to the solver's tolerance, and all of them find the same bits.
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>
#include <support/thread_team.hpp>

#include <mutex>

namespace apart::test {
namespace {

/// A soft, damped box, a cloth and a rigid box fall onto each other and the ground, with friction.
SmallScene mixed_scene() {
  SmallScene scene;
  scene.contact.friction = 0.2;
  scene.contact.dhat = 2e-3;
  scene.options.solver.tolerance = 1e-8;
  Body box = make_volume("box", moved(generate::box({0.2, 0.1, 0.2}, {3, 2, 3}), {0, 0.0515, 0}), soft(2e5),
                         1000, MassKind::lumped);
  box.damping.mass = 1;
  box.damping.stiffness = 1e-3;
  Body cloth = make_shell("cloth", moved(generate::grid(0.3, 0.3, 4, 4), {0, 0.104, 0}), cotton());
  const Mesh block = moved(generate::box({0.05, 0.05, 0.05}, {1, 1, 1}), {0.02, 0.131, 0.01});
  Body rigid = make_rigid("rigid", block, mass_distribution(block, 500));
  set_rigid_velocity(rigid, {0.3, -0.5, 0}, {0, 2, 0});
  scene.bodies = {box, cloth, rigid, make_half_space("ground", Vector3::Zero(), Vector3::UnitY())};
  return scene;
}

State after(const std::shared_ptr<const Model>& model, int steps, const Teamwork& work, Index& contacts) {
  Simulation simulation(model, start_state(*model), work);
  for (int step = 0; step < steps; ++step) contacts = std::max(contacts, simulation.step().contacts);
  return simulation.state();
}

TEST(Team, FindsWhatOneProcessFinds) {
  const auto model = mixed_scene().simulation()->shared_model();
  constexpr int steps = 6;
  Index contacts = 0;
  const State alone = after(model, steps, {}, contacts);
  EXPECT_GT(contacts, 20);
  for (const int size : {2, 4}) {
    std::vector<State> states;
    std::mutex mutex;
    for (int again = 0; again < 2; ++again)
      as_team(size, [&](const Team& team) {
        Index count = 0;
        State state = after(model, steps, {team}, count);
        const std::lock_guard lock(mutex);
        states.push_back(std::move(state));
      });
    for (const State& state : states) expect_same_bits(state, states.front());
    EXPECT_LT((states.front().nodes - alone.nodes).cwiseAbs().maxCoeff(), 1e-7) << size;
    EXPECT_NE((states.front().nodes - alone.nodes).cwiseAbs().maxCoeff(), 0) << "nothing was divided";
  }
}

TEST(Team, AddsUpManyContactsInParts) {
  SmallScene scene;
  scene.contact.friction = 0.2;
  scene.contact.dhat = 2e-3;
  scene.options.solver.tolerance = 1e-8;
  Body cloth = make_shell("cloth", moved(generate::grid(0.5, 0.5, 24, 24), {0, 0.0015, 0}), cotton());
  cloth.velocity.colwise() = Vector3(0.3, -0.1, 0);
  scene.bodies = {cloth, make_half_space("ground", Vector3::Zero(), Vector3::UnitY())};
  const auto model = scene.simulation()->shared_model();
  Index contacts = 0;
  const State alone = after(model, 2, {}, contacts);
  ASSERT_GE(contacts, few_terms) << "too few to be divided";
  for (const int size : {2, 3})
    as_team(size, [&](const Team& team) {
      Index count = 0;
      const State state = after(model, 2, {team}, count);
      EXPECT_EQ(count, contacts);
      EXPECT_LT((state.nodes - alone.nodes).cwiseAbs().maxCoeff(), 1e-7) << size;
    });
}

TEST(Team, AStepThatFailsFailsForAllAndIsLeftAsItWas) {
  SmallScene scene = mixed_scene();
  scene.options.solver.max_iterations = 1;
  const auto model = scene.simulation()->shared_model();
  int failed = 0;
  std::mutex mutex;
  as_team(3, [&](const Team& team) {
    Simulation simulation(model, start_state(*model), {team});
    try {
      simulation.step();
    } catch (const SolverError&) {
      const std::lock_guard lock(mutex);
      ++failed;
      expect_same_bits(simulation.state(), start_state(*model));
    }
  });
  EXPECT_EQ(failed, 3);
}

TEST(Team, StopsWhenOneOfThemIsAskedTo) {
  const auto model = mixed_scene().simulation()->shared_model();
  int stopped = 0;
  std::mutex mutex;
  as_team(3, [&](const Team& team) {
    Simulation simulation(model, start_state(*model), {team});
    if (team.rank() == 1) simulation.should_stop = [] { return true; };
    try {
      simulation.step();
    } catch (const Interrupted&) {
      const std::lock_guard lock(mutex);
      ++stopped;
    }
  });
  EXPECT_EQ(stopped, 3);
}

}  // namespace
}  // namespace apart::test
