// What the program promises about scripts of the reference implementation of IPC.
#include <apart/geometry/generators.hpp>
#include <apart/io/mesh_format.hpp>

#include <gtest/gtest.h>
#include <support/program_test.hpp>

#include <nlohmann/json.hpp>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

class Convert : public ProgramTest {
 protected:
  Convert() {
    fs::create_directories(directory / "input/tetMeshes");
    fs::create_directories(directory / "input/scenes");
    apart::write_mesh(directory / "input/tetMeshes/ball.msh", apart::generate::sphere(0.1, 2));
    write_file(directory / "input/scenes/fall.txt",
               "shapes input 2\n"
               "input/tetMeshes/ball.msh 0 0.11 0  0 0 0  1 1 1\n"
               "input/tetMeshes/ball.msh 0 0.33 0  0 0 0  1 1 1 initVel 0 -1 0  0 90 0\n"
               "ground 0.3 0\n"
               "selfFric 0.1\n"
               "time 0.1 0.02\n"
               "zoom 0.3\n");
  }
};

TEST_F(Convert, WritesASceneThatRunsAsTheScriptDoes) {
  const Outcome converted = apart({"convert", "input/scenes/fall.txt", "fall.json"});
  EXPECT_EQ(converted.code, 0) << converted.err;
  EXPECT_EQ(converted.err,
            "input/scenes/fall.txt:7: 'zoom' has no effect here: pictures are made with 'apart render'\n");
  const auto scene = nlohmann::json::parse(read_file(directory / "fall.json"));
  EXPECT_EQ(scene["bodies"][0]["mesh"]["file"], "input/tetMeshes/ball.msh");

  const Outcome from_script = apart({"run", "input/scenes/fall.txt", "-o", "a"});
  EXPECT_EQ(from_script.code, 0) << from_script.err;
  EXPECT_NE(from_script.err.find("fall.txt:7: 'zoom' has no effect here"), std::string::npos);
  const Outcome from_scene = apart({"run", "fall.json", "-o", "b"});
  EXPECT_EQ(from_scene.code, 0) << from_scene.err;
  EXPECT_EQ(read_file(directory / "a/scene.json"), read_file(directory / "b/scene.json"));
  EXPECT_EQ(read_file(directory / "a/frames/frame_000005.vtu"),
            read_file(directory / "b/frames/frame_000005.vtu"));
  EXPECT_FALSE(read_file(directory / "a/frames/frame_000005.vtu").empty());
}

TEST_F(Convert, PrintsTheSceneIfNoFileIsNamed) {
  const Outcome outcome = apart({"convert", "input/scenes/fall.txt"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["name"], "fall");
}

TEST_F(Convert, RefusesToTakeScriptsPhysically) {
  const Outcome outcome = apart({"convert", "--physical", "input/scenes/fall.txt"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("--physical has no effect on input/scenes/fall.txt"), std::string::npos)
      << outcome.err;
}

TEST_F(Convert, ChecksScriptsAsTheyAre) {
  const Outcome outcome = apart({"check", "input/scenes/fall.txt", "--set", "time.dt=0.01"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("10 steps of 0.01 s"), std::string::npos) << outcome.out;
}

TEST_F(Convert, TakesFixturesOfRigidIpc) {
  write_file(
      directory / "fixture.json",
      R"({"max_iterations": 3, "zoom": 1, "rigid_body_problem": {"gravity": [0, -9.8, 0], "rigid_bodies": [
               {"vertices": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "faces": [[0,2,1],[0,1,3],[0,3,2],[1,2,3]]}]}})");
  const std::string note = "fixture.json:1: zoom: unknown key, has no effect\n";
  const Outcome converted = apart({"convert", "fixture.json", "scene.json"});
  EXPECT_EQ(converted.code, 0);
  EXPECT_EQ(converted.err, note);
  for (const char* scene : {"fixture.json", "scene.json"}) {
    const Outcome outcome = apart({"run", scene, "-o", std::string("run-") + scene});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err.find(note) == 0, scene == std::string("fixture.json")) << outcome.err;
  }
  EXPECT_EQ(read_file(directory / "run-fixture.json/frames/frame_000003.vtu"),
            read_file(directory / "run-scene.json/frames/frame_000003.vtu"));
}

TEST_F(Convert, RefusesBadScriptsWithExitCode2AndThePlace) {
  write_file(directory / "bad.txt", "time 1 0.1\ndensitty 3\n");
  for (const char* command : {"convert", "check", "run"}) {
    const Outcome outcome = apart({command, "bad.txt"});
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_EQ(outcome.err, "bad.txt:2: unknown keyword 'densitty'; did you mean 'density'?\n") << command;
  }
  EXPECT_EQ(apart({"convert", "none.txt"}).code, 2);
  EXPECT_EQ(apart({"convert", "scene.json"}).code, 2);
  EXPECT_EQ(apart({"convert"}).code, 64);
}

}  // namespace
}  // namespace apart::test
