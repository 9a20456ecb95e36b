// What `apart check` tells and mends before a run, and what a run tells about itself.
#include <gtest/gtest.h>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using apart::testing::Outcome;
using apart::testing::read_file;
using apart::testing::run_program;
using apart::testing::TemporaryDirectory;
using apart::testing::write_file;

class Checks : public ::testing::Test {
 protected:
  Outcome apart(const std::vector<std::string>& arguments) {
    return run_program(APART_PROGRAM, arguments, directory.path());
  }
  void scene(const std::string& bodies, const std::string& more = "") {
    write_file(directory / "scene.json",
               R"({"version": 1, "time": {"dt": 0.01, "steps": 3}, "bodies": [)" + bodies + "]" + more + "}");
  }
  TemporaryDirectory directory;
};

std::string box(const std::string& name, const std::string& at, const std::string& more = "") {
  return R"({"type": "volume", "name": ")" + name +
         R"(", "mesh": {"generator": "box", "size": 0.2, "cells": 2}, "transform": {"translate": )" + at +
         more + "}}";
}

TEST_F(Checks, ReportsBodiesGapsAndCost) {
  scene(box("lower", "[0, 0, 0]") + "," + box("upper", "[0, 0.204, 0]"));
  const Outcome outcome = apart({"check", "scene.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part :
       {"0.2 x 0.2 x 0.2", "0.008", "8 ", "the smallest is 0.004 m", "unknowns", "MB", "ready to run"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  EXPECT_EQ(outcome.out.find("warning"), std::string::npos) << outcome.out;
}

TEST_F(Checks, WarnsOfUnitsMeshesAndSlowSettings) {
  scene(box("giant", "[0, 0, 0]", R"(, "scale": 9000)"),
        R"(, "contact": {"dhat": 900, "friction_iterations": 0}, "solver": {"ccd": "tight_inclusion"})");
  const Outcome outcome = apart({"check", "scene.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part : {"'giant' is 1800 m across", "millimetres", "dhat larger than the mesh",
                           "friction_iterations is 0", "tight_inclusion"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
}

TEST_F(Checks, MovesApartWhatIntersectsALittleOrIsTooClose) {
  // A corner of one box is 2 mm inside the other, a third lies closer than the thickness, and a sphere is
  // sunk into an obstacle.
  scene(box("a", "[0, 0, 0]") + "," + box("b", "[0.198, 0.1, 0.05]") + "," + box("c", "[-0.2005, 0, 0]") +
            "," +
            R"({"type": "obstacle", "name": "table", "mesh": {"generator": "grid", "cells": [2, 2]},
                "transform": {"translate": [0, -0.3, 0]}},
               {"type": "volume", "name": "ball", "mesh": {"generator": "sphere", "radius": 0.1, "resolution": 3},
                "transform": {"translate": [0.1, -0.201, 0.1]}})",
        R"(, "contact": {"dhat": 1e-3, "thickness": 1e-3})");
  EXPECT_EQ(apart({"run", "scene.json", "-o", "out"}).code, 2);
  const Outcome outcome = apart({"check", "scene.json", "--fix", "fixed.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("moved 'a' by at most"), std::string::npos) << outcome.out;
  const Outcome again = apart({"check", "fixed.json"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("ready to run"), std::string::npos);
  EXPECT_EQ(apart({"run", "fixed.json", "-o", "out"}).code, 0);
  EXPECT_EQ(nlohmann::json::parse(read_file(directory / "out/summary.json"))["thickness_kept"], true);
  // Nothing moved farther than it had to, by much: the deepest is 2 mm, and contact begins at 2 mm more.
  const auto at = outcome.out.find("farther than ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(std::stod(outcome.out.substr(at + 13)), 0.008) << outcome.out;
}

TEST_F(Checks, RefusesToMoveWhatIsDeepInsideSomethingElse) {
  scene(box("a", "[0, 0, 0]") + "," + box("b", "[0.02, 0.01, 0.05]"));
  const Outcome outcome = apart({"check", "scene.json", "--fix", "fixed.json"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("too deep in each other"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(directory / "fixed.json"));
}

TEST_F(Checks, AProfiledRunTellsWhereTheTimeWent) {
  scene(box("a", "[0, 0, 0]") + "," + box("b", "[0, 0.2003, 0]"));
  const Outcome outcome = apart({"run", "scene.json", "-o", "out", "--profile"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part : {"total", "assembly", "linear_solve", "ccd", "line_search", "calls", "trace.json"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  const auto trace = nlohmann::json::parse(read_file(directory / "out/trace.json"));
  int steps = 0;
  for (const auto& event : trace.at("traceEvents")) {
    EXPECT_GE(event.at("dur").get<double>(), 0);
    steps += event.at("name").get<std::string>().starts_with("step ");
  }
  EXPECT_EQ(steps, 3);
}

TEST_F(Checks, ASlowStepSaysWhatHoldsItUpAndChangesNothing) {
  scene(box("a", "[0, 0, 0]") + "," + box("b", "[0, 0.2003, 0]"));
  const Outcome outcome = apart({"run", "scene.json", "-o", "slow", "--set", "solver.slow_iterations=1"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part : {"is slow", "Closest pair: 'a' and 'b'", "Newton iterations"})
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part << "\n" << outcome.err;
  ASSERT_EQ(apart({"run", "scene.json", "-o", "quiet"}).code, 0);
  EXPECT_EQ(read_file(directory / "slow/checkpoint"), read_file(directory / "quiet/checkpoint"));
  EXPECT_NE(read_file(directory / "quiet/steps.csv").find("shortest_step,mean_step"), std::string::npos);
}

}  // namespace
