// Examples of any size: they can start, have what their size says, and are the built-in ones in the usual
// size.
#include <apart/core/error.hpp>
#include <apart/run/start_check.hpp>
#include <apart/scene/examples.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/sized_examples.hpp>
#include <apart/simulation/simulation.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <map>

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
      {"rigid-arch", [](Index n) { return n + 2; }},  // and the ground and the ball
      // n + (n − 1) + … + 1 tents of two cards, a floor between two tents, the table and the cube
      {"rigid-card-house", [](Index n) { return n * (n + 1) + n * (n - 1) / 2 + 2; }},
      // rings, links between neighbours, the ball
      {"rigid-chain-net", [](Index n) { return n * n + 2 * n * (n - 1) + 1; }},
      {"rigid-chain", [](Index n) { return n + 1; }},                    // and the hook
      {"rigid-billiards", [](Index n) { return n * (n + 1) / 2 + 2; }},  // and the table and the cue ball
      {"rigid-cradle", [](Index n) { return n; }},
      {"rigid-filled-box", [](Index n) { return n + 5; }},             // and the floor and four walls
      {"rigid-heap", [](Index n) { return n + 1; }},                   // and the ground
      {"rigid-pyramid", [](Index n) { return n * (n + 1) / 2 + 2; }},  // and the ground and the ball
      {"rigid-tower", [](Index n) { return n + 1; }},
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
  EXPECT_NE(message("slope", 3).find("'slope' has one size; those of any size are rigid-arch"),
            std::string::npos);
}

}  // namespace
}  // namespace apart::test
