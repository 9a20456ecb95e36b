// Scenes that ask for what cannot be: the run says which bodies or joints are concerned, keeps the last good
// state, and can be resumed from it.
#include <gtest/gtest.h>
#include <support/program_test.hpp>

#include <nlohmann/json.hpp>

#include <numbers>
#include <sstream>

namespace apart::test {
namespace {

class Impossible : public ProgramTest {
 protected:
  /// Runs until the solver gives up, resumes, and sees it give up in the same way.
  void expect_kept(const std::string& scene, const std::vector<std::string>& words, int good_steps) {
    write_file(directory / "scene.json", scene);
    const Outcome outcome = apart({"run", "scene.json", "-o", "out", "--set", "solver.max_iterations=80"});
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    for (const std::string& word : words)
      EXPECT_NE(outcome.err.find(word), std::string::npos) << word << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find("The last good state is in out"), std::string::npos) << outcome.err;
    const auto summary = nlohmann::json::parse(read_file(directory / "out/summary.json"));
    EXPECT_EQ(summary["steps"], good_steps);
    EXPECT_EQ(summary["status"], "failed");
    EXPECT_EQ(summary["intersection_free"], true);
    EXPECT_EQ(apart({"verify", "out"}).code, 0);
    const Outcome again = apart({"run", "--resume", "out", "--set", "solver.max_iterations=80"});
    EXPECT_EQ(again.code, 3) << again.err;
    for (const std::string& word : words) EXPECT_NE(again.err.find(word), std::string::npos) << again.err;
  }
};

TEST_F(Impossible, PosesThatJumpThroughAnObstacleAreStoppedInFrontOfIt) {
  expect_kept(R"({"version": 1, "time": {"dt": 0.01, "steps": 4}, "bodies": [
      {"type": "rigid", "name": "plate", "mesh": {"generator": "box", "size": [0.4, 0.02, 0.4], "cells": 1},
       "transform": {"translate": [0, 0.5, 0]},
       "motion": {"keyframes": [{"t": 0}, {"t": 0.01}, {"t": 0.02, "translate": [0, -1, 0]}]}},
      {"type": "obstacle", "name": "floor", "mesh": {"generator": "box", "size": [1, 0.1, 1], "cells": 1}},
      {"type": "rigid", "name": "free", "mesh": {"generator": "box", "size": 0.1, "cells": 1},
       "transform": {"translate": [3, 0, 0]}}]})",
              {"step 2", "'plate' and 'floor'", "Scripted motion of 'plate' is blocked"}, 1);
}

TEST_F(Impossible, JointsThatAScriptPullsApartAreNamed) {
  expect_kept(R"({"version": 1, "time": {"dt": 0.01, "steps": 4}, "bodies": [
      {"type": "rigid", "name": "hand", "mesh": {"generator": "box", "size": 0.1, "cells": 1},
       "motion": {"keyframes": [{"t": 0}, {"t": 0.02}, {"t": 0.04, "translate": [0.04, 0, 0]}]}},
      {"type": "rigid", "name": "bar", "mesh": {"generator": "box", "size": [0.5, 0.05, 0.05], "cells": 1},
       "transform": {"translate": [0.4, 0, 0]}}],
    "joints": [{"type": "ball", "name": "grip", "bodies": ["bar", "hand"], "at": [0.1, 0, 0]},
               {"type": "ball", "name": "anchor", "bodies": ["bar"], "at": [0.6, 0, 0]}]})",
              {"step 3", "joint '", "contradict each other"}, 2);
}

TEST_F(Impossible, ASpinOfAMillionRadiansPerSecondIsRefusedUnlessItIsConserved) {
  const auto scene = [](const std::string& time) {
    return R"({"version": 1, "time": {"dt": 0.01, "steps": 3)" + time + R"(}, "bodies": [
      {"type": "rigid", "name": "top", "mesh": {"generator": "box", "size": [0.4, 0.1, 0.2], "cells": 1},
       "angular_velocity": [0, 0, 5.73e7]}],
      "probes": [{"name": "spin", "type": "momentum", "body": "top"}]})";
  };
  write_file(directory / "scene.json", scene(""));
  const Outcome refused = apart({"run", "scene.json", "-o", "out"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("scene.json:3: bodies[0].angular_velocity: turns the body by 5.73e+05 degrees"),
            std::string::npos)
      << refused.err;
  EXPECT_NE(refused.err.find("use a time.dt of at most 3.1e-06 s, or \"conserve_spin\": true"),
            std::string::npos)
      << refused.err;
  // Exact free motion goes round any number of times.
  write_file(directory / "scene.json", scene(R"(, "conserve_spin": true)"));
  EXPECT_EQ(apart({"run", "scene.json", "-o", "out"}).code, 0);
  std::istringstream probes(read_file(directory / "out/probes.csv"));
  std::string line, name;
  std::getline(probes, line);
  std::istringstream header(line);
  int column = 0;
  while (std::getline(header, name, ',') && name != "spin.angular_z") ++column;
  const double inertia = 1000 * 0.4 * 0.1 * 0.2 * (0.4 * 0.4 + 0.1 * 0.1) / 12;
  int rows = 0;
  while (std::getline(probes, line)) {
    std::istringstream values(line);
    std::string value;
    for (int k = 0; k <= column; ++k) std::getline(values, value, ',');
    EXPECT_NEAR(std::stod(value), inertia * 5.73e7 * std::numbers::pi / 180, 1e-6 * inertia * 1e6);
    ++rows;
  }
  EXPECT_EQ(rows, 3);
}

}  // namespace
}  // namespace apart::test
