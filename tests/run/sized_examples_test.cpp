// Examples of any size: they can start, have what their size says, and are the built-in ones in the usual
// size.
#include <apart/core/error.hpp>
#include <apart/run/start_check.hpp>
#include <apart/scene/examples.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/sized_examples.hpp>
#include <apart/simulation/simulation.hpp>

#include <gtest/gtest.h>
#include <physics/jointed_scene.hpp>
#include <support/small_scene.hpp>

#include <map>
#include <memory>

namespace apart::test {
namespace {

TEST(SizedExamples, CanStartAndMoveWithoutIntersections) {
  for (const SizedExample& example : sized_examples())
    for (const Index size : {example.least, example.usual}) {
      const Scene scene = build_scene(example.make(size));
      EXPECT_TRUE(check_start(scene).ok()) << example.name << " of " << size;
      Simulation simulation(scene.model);
      for (int step = 0; step < 3; ++step) simulation.step();
      expect_intersection_free(simulation);
    }
}

TEST(SizedExamples, HaveAsManyBodiesAsTheirSizeSays) {
  const std::map<std::string_view, Index (*)(Index)> count = {
      {"rigid-anchor", [](Index n) { return n + 4; }},  // and the ground, the sill, the anchor and the ship
      {"rigid-arch", [](Index n) { return n + 2; }},    // and the ground and the ball
      {"rigid-axle", [](Index) { return Index{2}; }},
      {"rigid-billiards", [](Index n) { return n * (n + 1) / 2 + 2; }},  // and the table and the cue ball
      {"rigid-blender", [](Index n) { return n + 3; }},  // and the bottom, the pot, the blades
      {"rigid-bypass", [](Index n) { return n + 1; }},   // and the plate
      // n + (n − 1) + … + 1 tents of two cards, a floor between two tents, the table and the cube
      {"rigid-card-house", [](Index n) { return n * (n + 1) + n * (n - 1) / 2 + 2; }},
      {"rigid-chain", [](Index n) { return n + 1; }},               // and the hook
      {"rigid-chain-mail", [](Index n) { return 3 * n * n + 2; }},  // and the ball and the ground
      // rings, links between neighbours, the ball
      {"rigid-chain-net", [](Index n) { return n * n + 2 * n * (n - 1) + 1; }},
      {"rigid-chain-pulley", [](Index n) { return 2 * n + 8 + 2; }},  // eight links on wheels, the wheels
      {"rigid-cogs", [](Index n) { return n; }},
      {"rigid-compactor", [](Index n) { return n + 2; }},  // and the frame and the ram
      {"rigid-cradle", [](Index n) { return n; }},
      {"rigid-diamonds", [](Index n) { return n + 1; }},           // and the ground
      {"rigid-filled-box", [](Index n) { return n + 5; }},         // and the floor and four walls
      {"rigid-fracture-wall", [](Index n) { return n * n + 2; }},  // and the ground and the ball
      {"rigid-hanging-chain", [](Index n) { return n + 2; }},      // and the hooks
      {"rigid-heap", [](Index n) { return n + 1; }},               // and the ground
      {"rigid-leaning-tower", [](Index n) { return n + 1; }},
      {"rigid-plate-stack", [](Index n) { return n + 2; }},            // and the ground and the cube
      {"rigid-pyramid", [](Index n) { return n * (n + 1) / 2 + 2; }},  // and the ground and the ball
      {"rigid-saws", [](Index) { return Index{2}; }},
      {"rigid-tower", [](Index n) { return n + 1; }},
      {"rigid-tumbler", [](Index n) { return n + 1; }},  // and the drum
      {"rigid-wrecking-ball", [](Index n) { return n + 1 + 2 + 64; }}};
  for (const SizedExample& example : sized_examples())
    for (const Index size : {example.least, example.usual, example.usual + 1})
      EXPECT_EQ(Index(build_scene(example.make(size)).model->bodies.size()), count.at(example.name)(size))
          << example.name << " of " << size;
}

TEST(SizedExamples, AreTheBuiltInOnesInTheUsualSize) {
  int compared = 0;
  for (const SizedExample& sized : sized_examples())
    for (const Example& example : examples()) {
      if (example.name != sized.name) continue;
      ++compared;
      const Scene file = build_scene(parse_scene(std::string(example.text), std::string(example.name), "."));
      const Scene made = build_scene(sized.make(sized.usual));
      ASSERT_EQ(made.model->initial_nodes.cols(), file.model->initial_nodes.cols()) << sized.name;
      EXPECT_LT((made.model->initial_nodes - file.model->initial_nodes).cwiseAbs().maxCoeff(), 2e-6)
          << sized.name << ": the file is rounded to a micrometre";
      for (std::size_t b = 0; b < file.model->bodies.size(); ++b)
        EXPECT_EQ(made.model->bodies[b].name, file.model->bodies[b].name);
      EXPECT_EQ(made.steps, file.steps);
      EXPECT_EQ(made.model->surface.pairs.max_dhat(), file.model->surface.pairs.max_dhat());
    }
  EXPECT_EQ(compared, 3);
}

/// The same number of steps as the program makes, or fewer.
std::unique_ptr<Simulation> simulated(const char* name, Index size, int steps) {
  auto simulation = std::make_unique<Simulation>(build_scene(make_sized_example(name, size)).model);
  for (int step = 0; step < steps; ++step) simulation->step();
  expect_intersection_free(*simulation);
  return simulation;
}

double height_of(const Simulation& simulation, int body) {
  return centre_of_mass(simulation, body)[1];
}

TEST(SizedExamples, AHeapTakesFewMoreIterationsThanOneOfItsBoxes) {
  const auto iterations = [](Index size) {
    Simulation simulation(build_scene(make_sized_example("rigid-heap", size)).model);
    int sum = 0;
    for (int step = 0; step < 24; ++step) sum += simulation.step().newton_iterations;
    return sum;
  };
  // Sixty-four land one by one, slide, tip over and come to rest on each other.
  EXPECT_LT(iterations(64), 4 * iterations(1));
}

TEST(SizedExamples, CogsTurnAsTheirTeethSay) {
  const auto simulation = simulated("rigid-cogs", 3, 100);
  const auto angle = [&](int joint) { return reading(*simulation, joint).angle; };
  const double driving = angle(0), backlash = 1.5;  // [degrees]
  EXPECT_GT(driving, 60);
  EXPECT_NEAR(angle(1), -driving * 12 / 18, backlash);
  EXPECT_NEAR(angle(2), driving, 2 * backlash);
}

TEST(SizedExamples, LeaningTowersStandUpToNineBlocks) {
  const auto stands = simulated("rigid-leaning-tower", 9, 100),
             falls = simulated("rigid-leaning-tower", 12, 100);
  // By how much the top has come down; gaps of 0.9 mm close by half.
  const auto fallen = [](const Simulation& simulation, int blocks) {
    return (blocks - 1) * 0.3009 + 0.1509 - height_of(simulation, blocks);
  };
  EXPECT_LT(fallen(*stands, 9), 0.009);
  EXPECT_GT(fallen(*falls, 12), 0.05);
}

TEST(SizedExamples, NothingPassesAPlateThatItHits) {
  const auto stack = simulated("rigid-plate-stack", 10, 5);
  for (int plate = 1; plate <= 10; ++plate)
    EXPECT_LT(height_of(*stack, plate), height_of(*stack, plate + 1)) << "or the cube is below a plate";
  const auto fallen = simulated("rigid-bypass", 3, 3);
  // In free fall for 0.15 s; implicit Euler is ahead by up to 0.04 m, less where it divides a step.
  const double free = 10 - 80 * 0.15 - 0.5 * 9.81 * 0.15 * 0.15;
  EXPECT_NEAR(height_of(*fallen, 3), free, 0.04);
  // The first hits when its centre is 1 m high and turns about the edge, at a fifth of its speed.
  EXPECT_GT(height_of(*fallen, 1), free + 2);
}

TEST(SizedExamples, OfOtherSizesAreRefused) {
  const auto message = [](std::string_view name, Index size) {
    try {
      make_sized_example(name, size);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("rigid-arch", 2), "--size: got 2, rigid-arch has 3 to 1001 stones; try 25");
  EXPECT_NE(message("rigid-chain-net", 101).find("3 to 100 rings along each side"), std::string::npos);
  EXPECT_NE(message("slope", 3).find("'slope' has one size; those of any size are rigid-anchor"),
            std::string::npos);
}

}  // namespace
}  // namespace apart::test
