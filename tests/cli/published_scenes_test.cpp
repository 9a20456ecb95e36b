// `make scenes`: what the program that runs folders of scripts promises.
#include <apart/geometry/generators.hpp>
#include <apart/io/mesh_format.hpp>

#include <gtest/gtest.h>
#include <support/program_test.hpp>

#include <nlohmann/json.hpp>

#ifdef APART_SCENES_PROGRAM
namespace apart::test {
namespace {

namespace fs = std::filesystem;

class PublishedScenes : public ProgramTest {
 protected:
  PublishedScenes() {
    fs::create_directories(directory / "input/tetMeshes");
    fs::create_directories(directory / "input/scenes");
    apart::write_mesh(directory / "input/tetMeshes/cube.msh", apart::generate::box({1, 1, 1}, {1, 1, 1}));
    write_script("fall", "cube.msh", "");
  }
  void write_script(const std::string& name, const std::string& mesh, const std::string& more) {
    write_file(directory / ("input/scenes/" + name + ".txt"),
               "shapes input 1\ninput/tetMeshes/" + mesh + " 0 0.6 0  0 0 0  1 1 1\nground 0.1 0\n" + more);
  }
  Outcome scenes(std::vector<std::string> arguments, const Signal& signal = {}) {
    arguments.insert(arguments.begin(),
                     {"--program", APART_PROGRAM, "--scripts", "input", "--remesh", "", "--output", "out"});
    return run_program(APART_SCENES_PROGRAM, arguments, directory.path(), signal);
  }
  nlohmann::json result(const std::string& name) {
    return nlohmann::json::parse(read_file(directory / ("out/runs/scenes/" + name + ".json")));
  }
};

TEST_F(PublishedScenes, EachIsRunAndProvenAndFailuresStayInTheTable) {
  write_script("corotated", "cube.msh",
               "energy FCR\n");  // may invert, so that verify does not check its elements
  write_script("unknown", "cube.msh", "gravitate 3\n");
  write_script("without", "sphere.msh", "");
  const Outcome all = scenes({"--steps", "12"});
  EXPECT_EQ(all.code, 1) << all.err;  // one failed
  EXPECT_EQ(result("fall")["outcome"], "certified");
  EXPECT_EQ(result("fall")["steps"], 12);
  EXPECT_EQ(result("fall")["tetrahedra"], 5);
  EXPECT_EQ(result("corotated")["outcome"], "certified");
  EXPECT_EQ(result("corotated")["tetrahedra"], 5);
  EXPECT_EQ(result("fall")["verify_exit_code"], 0);
  EXPECT_GE(result("fall")["newton_iterations"], 12);
  EXPECT_EQ(result("unknown")["outcome"], "failed");
  EXPECT_EQ(result("unknown")["exit_code"], 2);
  EXPECT_EQ(result("without")["outcome"], "left out");
  const std::string table = read_file(directory / "out/table.md");
  EXPECT_NE(
      table.find("4 scripts: 2 certified, 0 stopped by the limit of time and certified so far, 1 failed, 1 "
                 "left out"),
      table.npos)
      << table;
  EXPECT_NE(table.find("| scenes/fall | 8 | 5 | 0.025 | 12 |"), table.npos) << table;
  EXPECT_NE(table.find("* scenes/unknown, exit code 2: scenes/unknown.txt:4: "), table.npos) << table;

  // What is there is kept.
  const Outcome kept = scenes({"--steps", "12"});
  EXPECT_EQ(kept.code, 1);
  EXPECT_EQ(kept.out.find("..."), kept.out.npos) << kept.out;
  EXPECT_NE(kept.out.find("| scenes/fall | 8 | 5 |"), kept.out.npos);
  const Outcome again = scenes({"--steps", "3", "--again", "--only", "fall"});
  EXPECT_EQ(again.code, 0) << again.out;
  EXPECT_EQ(result("fall")["steps"], 3);
}

TEST_F(PublishedScenes, OneThatWasStoppedGoesOnWhereItWas) {
  const auto some_steps_done = [&](const std::string&) {
    return line_count(directory / "out/runs/scenes/fall/steps.csv") > 2;
  };
  EXPECT_EQ(scenes({"--steps", "1000000"}, {some_steps_done}).code, 130);
  const Outcome first = scenes({"--steps", "1000000", "--scene-budget", "1.1"});
  EXPECT_EQ(first.code, 1) << first.out;
  EXPECT_NE(first.out.find("go on with the same command"), first.out.npos) << first.out;
  EXPECT_EQ(result("fall")["outcome"], "partly");
  EXPECT_EQ(result("fall")["steps_wanted"], 1000000);
  const int steps = result("fall")["steps"];
  EXPECT_GE(steps, 2) << "those before it was stopped";
  // The busier the machine, the fewer steps fit into the limit.
  for (int trial = 0; trial < 20 && result("fall")["steps"] == steps; ++trial)
    scenes({"--scene-budget", "1.1"});
  EXPECT_GT(result("fall")["steps"], steps);
}

TEST_F(PublishedScenes, SaysLoudlyThatThereIsNothing) {
  fs::remove_all(directory / "input");
  const Outcome none = scenes({});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("WERE NOT RUN"), none.err.npos) << none.err;
}

TEST_F(PublishedScenes, CodimensionalOnesHaveATableOfTheirOwn) {
  fs::create_directories(directory / "codim");
  apart::write_mesh(directory / "codim/square2K.obj", apart::generate::grid(1, 1, 8, 8));
  const std::vector<std::string> arguments = {
      "--only", "hang-1.01", "--steps", "3", "--meshes", "codim", "--codim", APART_SOURCE_DIR "/bench/codim"};
  const Outcome all = scenes(arguments);
  EXPECT_EQ(all.code, 0) << all.out << all.err;
  const auto hang = nlohmann::json::parse(read_file(directory / "out/runs/codim/two-corner-hang-1.01.json"));
  EXPECT_EQ(hang["outcome"], "certified");
  EXPECT_EQ(hang["steps"], 3);
  EXPECT_EQ(hang["nodes"], 81);
  EXPECT_GT(hang["max_strain_share"], 0.9) << "the diagonal is taut";
  EXPECT_LT(hang["max_strain_share"], 1);
  std::string table = read_file(directory / "out/table.md");
  EXPECT_NE(table.find("1 codimensional scenes: 1 certified"), table.npos) << table;
  EXPECT_NE(table.find("| two-corner-hang-1.01 | 81 | 0.04 | 3 |"), table.npos) << table;

  // Settings reach the run, published figures the table; a mesh that is missing is no failure.
  apart::Mesh cylinder = apart::generate::revolution({{0.25, -0.5}, {0.25, 0}, {0.25, 0.5}}, 8);
  cylinder.points.row(0).swap(cylinder.points.row(1));  // the published one is along x
  apart::write_mesh(directory / "codim/cylinder7K.obj", cylinder);
  scenes({"--only", "twisted-cylinder-without", "--steps", "1", "--meshes", "codim", "--codim",
          APART_SOURCE_DIR "/bench/codim"});
  const auto scene = nlohmann::json::parse(
      read_file(directory / "out/runs/codim/twisted-cylinder-without-offset/scene.json"));
  EXPECT_EQ(scene["contact"]["thickness"], 0);
  const Outcome missing =
      scenes({"--only", "codim/needles", "--meshes", "codim", "--codim", APART_SOURCE_DIR "/bench/codim"});
  EXPECT_EQ(missing.code, 0) << missing.out << missing.err;
  table = read_file(directory / "out/table.md");
  EXPECT_NE(
      table.find("| **left out** | Pulling cloth on needles | 26.3K | 0.3K (6.6K) | 66.6 | 108 s | 24, 6 |"),
      table.npos)
      << table;

  const Outcome none = scenes({"--only", "fall", "--steps", "3", "--meshes", "nowhere"});
  EXPECT_EQ(none.code, 2) << "not everything that was asked for was run";
  EXPECT_NE(none.err.find("THE CODIMENSIONAL SCENES WERE NOT RUN"), none.err.npos) << none.err;
  EXPECT_EQ(result("fall")["outcome"], "certified");
}

TEST_F(PublishedScenes, RigidFixturesHaveATableOfTheirOwn) {
  fs::create_directories(directory / "fixtures/mechanisms");
  fs::create_directories(directory / "meshes");
  write_file(directory / "meshes/tet.obj",
             "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  const auto write_fixture = [&](const std::string& name, const std::string& mesh) {
    write_file(directory / ("fixtures/" + name + ".json"),
               R"({"max_iterations": 7, "rigid_body_problem": {"gravity": [0, -9.8, 0], "rigid_bodies": [
                  {"mesh": "tet.obj", "position": [0, 0.01, 0], "angular_velocity": [0, 90, 90]},
                  {"mesh": ")" +
                   mesh + R"(", "type": "static", "position": [0, -1, 0]}]}})");
  };
  write_fixture("mechanisms/bolt", "tet.obj");
  write_fixture("fall=1.5", "tet.obj");
  write_fixture("without", "missing.obj");
  const Outcome all = scenes({"--only", "rigid/", "--fixtures", "fixtures"});
  EXPECT_EQ(all.code, 0) << all.out << all.err;
  const auto fall = nlohmann::json::parse(read_file(directory / "out/runs/rigid/fall=1.5.json"));
  EXPECT_EQ(fall["outcome"], "certified");
  EXPECT_EQ(fall["steps"], 7) << "no more than the fixture has";
  EXPECT_EQ(fall["bodies"], 2);
  EXPECT_TRUE(fs::exists(directory / "out/runs/rigid/fall=1.5/iterates")) << "all paths are proven";
  const std::string table = read_file(directory / "out/table.md");
  EXPECT_NE(
      table.find("3 rigid fixtures: 2 certified, 0 stopped by the limit of time and certified so far, 0 "
                 "failed, 1 left out"),
      table.npos)
      << table;
  EXPECT_NE(table.find("| mechanisms/bolt | 2 | 0.01 | 7 |"), table.npos) << table;
  EXPECT_NE(table.find("| yes | Bolt | 332 (759) | 8.3 | 3.5 s, 16 threads | "), table.npos) << table;
  EXPECT_NE(table.find("| 4031 s, 24K / 1437 s, 4K |"), table.npos) << table;
}

TEST_F(PublishedScenes, HighOrderScenesHaveATableOfTheirOwn) {
  fs::create_directories(directory / "polyfem/scripts/higher-order");
  write_file(directory / "polyfem/tet.msh",
             "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
             "$EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n");
  write_file(directory / "polyfem/common.json",
             R"({"materials": [{"id": 1, "type": "NeoHookean", "E": 1e6, "nu": 0.4, "rho": 900}]})");
  const auto write_scene = [&](const std::string& name, const std::string& mesh) {
    write_file(directory / ("polyfem/scripts/higher-order/" + name + ".json"),
               R"({"common": "../../common.json", "geometry": [{"mesh": "../../)" + mesh +
                   R"(", "volume_selection": 1}], "space": {"discr_order": 3},
                  "time": {"tend": 0.05, "time_steps": 5},
                  "boundary_conditions": {"rhs": [0, 9.81, 0]}})");
  };
  write_scene("squish-beam-P3", "tet.msh");
  write_scene("other", "tet.msh");
  write_scene("without", "missing.msh");
  const Outcome all = scenes({"--only", "high-order/", "--polyfem", "polyfem"});
  EXPECT_EQ(all.code, 0) << all.out << all.err;
  const std::string table = read_file(directory / "out/table.md");
  EXPECT_NE(table.find("3 scenes of PolyFEM: 2 certified, 0 stopped by the limit of time and certified so "
                       "far, 0 failed, 1 left out"),
            table.npos)
      << table;
  EXPECT_NE(table.find("| scripts/higher-order/squish-beam-P3 | 20 | 1 | 0.01 | 5 |"), table.npos) << table;
  EXPECT_NE(table.find("| yes | Bending beam, P3 | 48 | 5.5K | 1.14 s | "), table.npos) << table;
}

}  // namespace
}  // namespace apart::test
#endif
