// Scenes that a program describes: no file and no JSON.
#include <apart/scene/scene_builder.hpp>
#include <apart/simulation/simulation.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>

namespace apart::test {
namespace {

/// A ball above a floor.
SceneDescription falling_ball() {
  VolumeDescription ball;
  ball.name = "ball";
  ball.mesh = SphereMesh{{}, 0.1, 2};
  ball.transform.translate = {0, 1, 0};
  SceneDescription scene;
  scene.name = "drop";
  scene.time.dt = 0.01;
  scene.time.steps = 5;
  scene.bodies = {ball, HalfSpaceDescription{}};
  return scene;
}

TEST(Description, IsBuiltAndSteppedWithoutAFile) {
  const Scene scene = build_scene(falling_ball());
  EXPECT_EQ(scene.name, "drop");
  EXPECT_EQ(scene.steps, 5);
  ASSERT_EQ(scene.model->bodies.size(), 2u);
  EXPECT_EQ(scene.model->bodies[1].name, "half_space1");  // the name that a file would give it
  Simulation simulation(scene.model);
  for (Index step = 0; step < scene.steps; ++step) simulation.step();
  // Implicit Euler in free fall: the speed is g t, the way g h² (1 + 2 + … + 5).
  const Matrix3X fallen = simulation.state().nodes - scene.model->initial_nodes;
  EXPECT_LT((fallen.row(1).array() + 9.81 * 1e-4 * 15).abs().maxCoeff(), 1e-6);
}

TEST(Description, GivesTheModelThatTheSameSceneGivesAsAFile) {
  const SceneFile file = parse_scene(R"({"version": 1, "name": "drop", "time": {"dt": 0.01, "steps": 5},
      "bodies": [{"type": "volume", "name": "ball", "mesh": {"generator": "sphere", "radius": 0.1, "resolution": 2},
                  "transform": {"translate": [0, 1, 0]}},
                 {"type": "half_space"}]})",
                                     "scene.json", ".");
  EXPECT_EQ(understand_scene(to_json(falling_ball()), "scene", ".").text(), file.text());
  EXPECT_EQ(build_scene(file).model->initial_nodes, build_scene(falling_ball()).model->initial_nodes);
}

TEST(Description, MistakesAreNamedByTheirPlace) {
  const auto message = [](auto&& spoil) {
    SceneDescription scene = falling_ball();
    spoil(scene, std::get<VolumeDescription>(scene.bodies[0]));
    return message_of([&] { build_scene(scene); });
  };
  const auto starts = [](const std::string& text, std::string_view with) { return text.starts_with(with); };
  // Found by the rules of the catalog ...
  EXPECT_PRED2(starts,
               message([](auto&, auto& ball) { std::get<NeoHookeanDescription>(ball.material).nu = 0.5; }),
               "bodies[0].material.nu: got 0.5, must lie in (-1, 0.5)");
  EXPECT_PRED2(starts, message([](auto& scene, auto&) { scene.time.tend = 1; }),
               "time: has both 'tend' and 'steps'");
  // ... and while the scene is built.
  EXPECT_PRED2(starts, message([](auto&, auto& ball) { ball.mesh = GridMesh{}; }),
               "bodies[0].mesh: has no tetrahedra; a volume needs some");
  EXPECT_PRED2(starts, message([](auto&, auto& ball) {
                 FixedDescription part;
                 BoxSelection box;
                 box.box.min = box.box.max = Vector3(9, 9, 9);
                 part.where = box;
                 ball.fixed.push_back(part);
               }),
               "bodies[0].fixed[0].where: got {\"box\"");
  EXPECT_PRED2(starts, message([](auto& scene, auto&) {
                 PairDescription pair;
                 pair.bodies = {"ball", "flor"};
                 scene.contact.pairs.push_back(pair);
               }),
               "contact.pairs[0].bodies[1]: got \"flor\", which is not a body");
}

}  // namespace
}  // namespace apart::test
