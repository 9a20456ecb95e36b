// Runs whose meshes change: proven from end to end, the same bits after an interruption and for any threads.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

namespace apart::test {
namespace {

constexpr const char* soft_bar = R"({"version": 1, "time": {"dt": 0.02, "steps": 12},
  "bodies": [
    {"type": "half_space", "name": "floor"},
    {"type": "volume", "name": "bar", "mesh": {"generator": "box", "size": [0.8, 0.2, 0.2], "cells": [6, 2, 2]},
     "transform": {"translate": [0, 0.11, 0]}, "velocity": [0, -2, 0],
     "material": {"type": "neo_hookean", "E": 1e5, "nu": 0.4, "rho": 1000},
     "remesh": {"delta_split": 0.01, "delta_collapse": -1e-4, "min_edge": 0.02, "swaps": true, "smoothing": true}},
    {"type": "obstacle", "name": "edge", "mesh": {"generator": "segments", "length": 1, "cells": 1},
     "transform": {"rotate": [0, 90, 0], "translate": [0, 0.004, 0]}}],
  "probes": [{"name": "low", "type": "position", "body": "bar"}],
  "contact": {"dhat": 2e-3}})";

class RemeshedRun : public ::testing::Test {
 protected:
  RemeshedRun() { write_file(directory / "scene.json", soft_bar); }
  Outcome run(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"run"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_program(APART_PROGRAM, all, directory.path());
  }
  std::string file(const std::string& name) const { return read_file(directory / name); }
  TemporaryDirectory directory;
};

TEST_F(RemeshedRun, IsProvenAndGivesTheSameBitsResumedAndWithMoreThreads) {
  const Outcome whole = run({"scene.json", "-o", "whole", "--record-iterates", "--threads", "1"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_NE(whole.out.find("edges split"), std::string::npos) << whole.out;
  const auto summary = nlohmann::json::parse(file("whole/summary.json"));
  EXPECT_GT(summary["splits"], 0);
  EXPECT_GT(summary["swaps"], 0);
  EXPECT_GT(summary["moves"], 0);
  EXPECT_GT(summary["cells"], 120);
  const Outcome verified = run_program(APART_PROGRAM, {"verify", "whole"}, directory.path());
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;

  ASSERT_EQ(run({"scene.json", "-o", "part", "--record-iterates", "--threads", "2", "--steps", "7"}).code, 0);
  const Outcome resumed = run({"--resume", "part", "--threads", "2"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  for (const std::string name : {"frames/frame_000012.vtu", "steps.csv", "probes.csv", "digests.txt"})
    EXPECT_EQ(file("part/" + name), file("whole/" + name)) << name;
}

TEST_F(RemeshedRun, WithoutIteratesIsNotProven) {
  ASSERT_EQ(run({"scene.json", "-o", "out"}).code, 0);
  const Outcome verified = run_program(APART_PROGRAM, {"verify", "out"}, directory.path());
  EXPECT_EQ(verified.code, 4);
  EXPECT_NE((verified.out + verified.err).find("--record-iterates"), std::string::npos);
}

constexpr const char* cloth = R"({"version": 1, "time": {"dt": 0.02, "steps": 14},
  "bodies": [
    {"type": "obstacle", "name": "needle", "mesh": {"generator": "segments", "length": 0.2, "cells": 1},
     "transform": {"rotate": [0, 0, 80], "translate": [0.05, -0.12, 0.03]}},
    {"type": "obstacle", "name": "ball", "mesh": {"generator": "sphere", "radius": 0.08, "resolution": 4},
     "transform": {"translate": [0, -0.085, 0]}},
    {"type": "shell", "name": "cloth", "mesh": {"generator": "grid", "size": [0.4, 0.4], "cells": [6, 6]},
     "material": {"type": "koiter", "E": 8.21e5, "nu": 0.243, "rho": 472.64, "thickness": 3.18e-4,
                  "membrane_scale": 0.01},
     "strain_limit": {"upper": 1.1}, "thickness": 3e-4,
     "remesh": {"delta_split": 1e-5, "delta_collapse": -1e-6, "min_edge": 0.01}}],
  "contact": {"dhat": 1e-3, "formulation": "convergent", "friction_coefficient": 0.3}})";

TEST_F(RemeshedRun, OfAClothIsProvenAndGivesTheSameBitsResumedAndWithMoreThreads) {
  write_file(directory / "scene.json", cloth);
  const Outcome whole = run({"scene.json", "-o", "whole", "--record-iterates", "--threads", "1"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto summary = nlohmann::json::parse(file("whole/summary.json"));
  EXPECT_GT(summary["splits"], 10);
  EXPECT_GT(summary["collapses"], 0);
  EXPECT_GT(summary["max_contacts"], 0);
  const Outcome verified = run_program(APART_PROGRAM, {"verify", "whole"}, directory.path());
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;

  ASSERT_EQ(run({"scene.json", "-o", "part", "--record-iterates", "--threads", "2", "--steps", "8"}).code, 0);
  const Outcome resumed = run({"--resume", "part", "--threads", "2"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  for (const std::string name : {"frames/frame_000014.vtu", "steps.csv", "digests.txt"})
    EXPECT_EQ(file("part/" + name), file("whole/" + name)) << name;
}

/// A ball that falls on an edge, of a mesh finer than it needs.
constexpr const char* fine_ball = R"({"version": 1, "time": {"dt": 0.01, "steps": 10},
  "bodies": [
    {"type": "half_space", "name": "floor"},
    {"type": "volume", "name": "ball", "mesh": {"generator": "sphere", "radius": 0.1, "resolution": 5},
     "transform": {"translate": [0, 0.115, 0]}, "velocity": [0, -2, 0],
     "material": {"type": "neo_hookean", "E": 1e5, "nu": 0.4, "rho": 1000},
     "remesh": {"delta_split": 0.1, "delta_collapse": -0.02, "coarsen": true, "shape_tolerance": 5e-3}},
    {"type": "obstacle", "name": "edge", "mesh": {"generator": "segments", "length": 1, "cells": 1},
     "transform": {"rotate": [0, 90, 0], "translate": [0, 0.004, 0]}}],
  "contact": {"dhat": 1e-3, "formulation": "convergent"}})";

TEST_F(RemeshedRun, WithinAToleranceOfTheShapeIsProvenAndGivesTheSameBitsResumedAndWithMoreThreads) {
  write_file(directory / "scene.json", fine_ball);
  const Outcome whole = run({"scene.json", "-o", "whole", "--record-iterates", "--threads", "1"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto summary = nlohmann::json::parse(file("whole/summary.json"));
  EXPECT_GT(summary["collapses"], 50);
  EXPECT_GT(summary["max_contacts"], 0);
  const Outcome verified = run_program(APART_PROGRAM, {"verify", "whole"}, directory.path());
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;

  ASSERT_EQ(run({"scene.json", "-o", "part", "--record-iterates", "--threads", "2", "--steps", "6"}).code, 0);
  const Outcome resumed = run({"--resume", "part", "--threads", "2"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  for (const std::string name : {"frames/frame_000010.vtu", "steps.csv", "digests.txt"})
    EXPECT_EQ(file("part/" + name), file("whole/" + name)) << name;
}

/// In the unit of the potential, joules times the squared step.
TEST_F(RemeshedRun, WithAGainInOtherUnitsIsRemarkedOn) {
  std::string scene = soft_bar;
  const std::string usual = R"(0.01, "delta_collapse": -1e-4)";
  scene.replace(scene.find(usual), usual.size(), "8e-7");
  write_file(directory / "scene.json", scene);
  const Outcome checked = run_program(APART_PROGRAM, {"check", "scene.json"}, directory.path());
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_NE(checked.err.find("delta_split: is 7e-10 of the shear modulus of 'bar' times its volume"),
            std::string::npos)
      << checked.err;
}

TEST_F(RemeshedRun, OfAShellWithAGainInOtherUnitsIsRemarkedOn) {
  write_file(directory / "scene.json", R"({"version": 1, "time": {"steps": 1}, "bodies": [
    {"type": "shell", "name": "cloth", "mesh": {"generator": "grid"}, "remesh": {"delta_split": 1e-12}}]})");
  const Outcome checked = run_program(APART_PROGRAM, {"check", "scene.json"}, directory.path());
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_NE(checked.err.find("of the weight of 'cloth' times its size"), std::string::npos) << checked.err;
}

}  // namespace
}  // namespace apart::test
