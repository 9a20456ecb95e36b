// `make scenes`: what the program that runs folders of scripts promises.
#include <apart/geometry/generators.hpp>
#include <apart/io/mesh_format.hpp>

#include <gtest/gtest.h>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

#ifdef APART_SCENES_PROGRAM
namespace {

namespace fs = std::filesystem;
using apart::testing::Outcome;
using apart::testing::read_file;
using apart::testing::run_program;
using apart::testing::TemporaryDirectory;
using apart::testing::write_file;

class PublishedScenes : public ::testing::Test {
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
  Outcome scenes(std::vector<std::string> arguments, double interrupt_after = -1) {
    arguments.insert(arguments.begin(),
                     {"--program", APART_PROGRAM, "--scripts", "input", "--output", "out"});
    return run_program(APART_SCENES_PROGRAM, arguments, directory.path(), interrupt_after);
  }
  nlohmann::json result(const std::string& name) {
    return nlohmann::json::parse(read_file(directory / ("out/runs/scenes/" + name + ".json")));
  }
  TemporaryDirectory directory;
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
  EXPECT_EQ(scenes({"--steps", "1000000"}, 1.0).code, 130);
  const Outcome first = scenes({"--steps", "1000000", "--scene-budget", "2"});
  EXPECT_EQ(first.code, 1) << first.out;
  EXPECT_NE(first.out.find("go on with the same command"), first.out.npos) << first.out;
  EXPECT_EQ(result("fall")["outcome"], "partly");
  EXPECT_EQ(result("fall")["steps_wanted"], 1000000);
  const int steps = result("fall")["steps"];
  EXPECT_GT(steps, 0);
  scenes({"--scene-budget", "2"});
  EXPECT_GT(result("fall")["steps"], steps);
}

TEST_F(PublishedScenes, SaysLoudlyThatThereIsNothing) {
  fs::remove_all(directory / "input");
  const Outcome none = scenes({});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("WERE NOT RUN"), none.err.npos) << none.err;
}

}  // namespace
#endif
