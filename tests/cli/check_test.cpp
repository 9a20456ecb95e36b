// What `apart check` reports and repairs before a run, and what a run reports about itself.
#include <gtest/gtest.h>
#include <support/program_test.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

class Checks : public ProgramTest {
 protected:
  void scene(const std::string& bodies, const std::string& more = "") {
    write_file(directory / "scene.json",
               R"({"version": 1, "time": {"dt": 0.01, "steps": 3}, "bodies": [)" + bodies + "]" + more + "}");
  }
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

TEST_F(Checks, WarnsOfImplausibleMaterialsAndOfForcesThatAreNotKnown) {
  scene(R"({"type": "volume", "name": "hard", "mesh": {"generator": "box", "size": 0.2, "cells": 1},
            "material": {"type": "neo_hookean", "E": 1e15, "nu": 0.49999}},
           {"type": "shell", "name": "sheet", "mesh": {"generator": "grid", "size": [1, 1], "cells": [2, 2]},
            "transform": {"translate": [0, 1, 0]}, "material": {"type": "koiter", "rho": 1e9}},
           {"type": "rod", "name": "rod", "mesh": {"generator": "segments", "length": 1, "cells": 4},
            "material": {"rho": 1e9}, "transform": {"translate": [0, 2, 0]}},
           {"type": "particles", "name": "ball", "radius": 0.1, "rho": 1e-6,
            "mesh": {"points": [[0, 3, 0]]}},
           {"type": "volume", "name": "man", "mesh": {"generator": "box", "size": [60, 180, 40], "cells": 1},
            "transform": {"translate": [100, 0, 0]}})",
        R"(, "contact": {"dhat": 1e-3, "barrier_stiffness": 1e30}, "solver": {"termination": "published"})");
  const Outcome outcome = apart({"check", "scene.json", "--set", "time.dt=10"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part :
       {"'hard' has E = 1e+15 Pa", "'hard' has nu = 0.49999", "'sheet' has a mean density of 1e+09",
        "'rod' has a mean density of 1e+09", "'ball' has a mean density of 1e-06", "'man' is 180 m across",
        "time.dt is 10 s", "barrier_stiffness is 1e+30",
        "forces (probes, contact_force) may be far from balance"})
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

TEST_F(Checks, MovesCopiesOfAnArrayApartAndWritesThemOneByOne) {
  scene(R"({"type": "volume", "name": "row", "mesh": {"generator": "box", "size": 0.2, "cells": 1},
            "array": {"counts": [3, 1, 1], "spacing": [0.199, 0, 0]}},
           {"type": "volume", "name": "far", "mesh": {"generator": "box", "size": 0.2, "cells": 1},
            "transform": {"translate": [0, 1, 0]}, "array": {"counts": [1, 1, 2], "spacing": [0, 0, 0.5]}},
           {"type": "half_space", "name": "floor", "origin": [0, -0.2, 0]})",
        R"(, "contact": {"dhat": 1e-3, "pairs": [{"bodies": ["row", "floor"], "friction_coefficient": 0.3}]},
             "probes": [{"name": "all", "type": "momentum", "body": "row"}])");
  const Outcome outcome = apart({"check", "scene.json", "--fix", "fixed.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto fixed = nlohmann::json::parse(read_file(directory / "fixed.json"));
  std::vector<std::string> names;
  for (const auto& body : fixed["bodies"]) names.push_back(body["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"row.0", "row.1", "row.2", "far", "floor"}));
  ASSERT_EQ(apart({"run", "fixed.json", "-o", "out"}).code, 0);
  // The probe means all three: they fall together, 24 kg for 0.03 s.
  const std::string probes = read_file(directory / "out/probes.csv");
  const std::string last = probes.substr(probes.rfind('\n', probes.size() - 2) + 1);
  double momentum[4];
  ASSERT_EQ(std::sscanf(last.c_str(), "%*d,%*f,%lf,%lf,%lf", momentum, momentum + 1, momentum + 2), 3)
      << last;
  EXPECT_NEAR(momentum[1], -24 * 9.81 * 0.03, 0.05) << "their volume has changed a little";
}

TEST_F(Checks, LetsBallsAndRodsThatAreTooCloseDriftApart) {
  // Three balls in one place nearly, one in the very place of another body's, one in a table; parallel rods.
  scene(R"({"type": "particles", "name": "balls", "radius": 0.05,
            "mesh": {"points": [[0, 0, 0], [0.08, 0, 0], [0.085, 0, 0.03], [0.16, 0.01, 0], [0, 0.3, 0]]}},
           {"type": "particles", "name": "same", "radius": 0.05, "mesh": {"points": [[0, 0.3, 0]]}},
           {"type": "obstacle", "name": "table", "mesh": {"generator": "grid", "cells": [2, 2]},
            "transform": {"translate": [0, -0.03, 0]}},
           {"type": "rod", "name": "rods", "material": {"radius": 0.005}, "transform": {"translate": [0, 2, 0]},
            "mesh": {"points": [[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0], [0, 0.008, 0], [0.1, 0.008, 0], [0.2, 0.008, 0]],
                     "segments": [[0, 1], [1, 2], [3, 4], [4, 5]]}})",
        R"(, "contact": {"dhat": 1e-3})");
  ASSERT_EQ(apart({"check", "scene.json"}).code, 2);
  const Outcome outcome = apart({"check", "scene.json", "--fix", "fixed.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto at = outcome.out.find("farther than ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(std::stod(outcome.out.substr(at + 13)), 0.053) << "half of what two in one place need, and dhat";
  ASSERT_EQ(apart({"run", "fixed.json", "-o", "out"}).code, 0);
  EXPECT_EQ(nlohmann::json::parse(read_file(directory / "out/summary.json"))["thickness_kept"], true);
}

TEST_F(Checks, ChecksBodiesThatAppearLater) {
  const auto body = [](const std::string& name, const std::string& more) {
    return R"({"type": "volume", "name": ")" + name +
           R"(", "mesh": {"generator": "box", "size": 0.2, "cells": 1}, )" + more + "}";
  };
  // 'b' and 'c' appear together, one slightly in the other; 'd' appears at the same place, but later, and is
  // a little below the floor.
  scene(body("a", R"("transform": {"translate": [0, 5, 0]})") + "," +
        body("b", R"("appears": 0.01, "transform": {"translate": [0, 0.3, 0]})") + "," +
        body("c", R"("appears": 0.01, "transform": {"translate": [0.199, 0.31, 0.01]})") + "," +
        body("d", R"("appears": 0.02, "transform": {"translate": [3, 0.099, 0]})") +
        R"(, {"type": "half_space", "name": "floor"})");
  const Outcome found = apart({"check", "scene.json"});
  EXPECT_EQ(found.code, 2);
  for (const char* part : {"of 'b' intersects", "of 'c'", "(10 more like this)",
                           "when it appears at t = 0.01 s", "when it appears at t = 0.02 s", "'floor'"})
    EXPECT_NE(found.err.find(part), std::string::npos) << part << "\n" << found.err;
  EXPECT_EQ(apart({"run", "scene.json", "-o", "out"}).code, 2) << "a run says so before it begins";
  const Outcome fixed = apart({"check", "scene.json", "--fix", "fixed.json"});
  ASSERT_EQ(fixed.code, 0) << fixed.err;
  for (const char* part : {"moved 'b'", "moved 'c'", "moved 'd'"})
    EXPECT_NE(fixed.out.find(part), std::string::npos) << fixed.out;
  EXPECT_EQ(apart({"run", "fixed.json", "-o", "out"}).code, 0);
  // Where another body was, or will be, is no place that is taken.
  scene(body("a", R"("transform": {"translate": [0, 5, 0]})") + "," +
        body("b", R"("transform": {"translate": [0, 5, 0]}, "appears": 0.01)") + "," +
        body("c", R"("transform": {"translate": [0, 5, 0]}, "appears": 0.02)"));
  EXPECT_EQ(apart({"check", "scene.json"}).code, 0);
}

TEST_F(Checks, ARepairReplacesNothingAndLeavesNothingHalfDone) {
  scene(box("a", "[0, 0, 0]") + "," + box("b", "[0.198, 0.1, 0.05]"));
  const std::string before = read_file(directory / "scene.json");
  fs::create_directories(directory / "there-meshes");
  for (const auto& [file, part] : {std::pair("scene.json", "exists already"), std::pair("fixed.txt", ".json"),
                                   std::pair("there.json", "there-meshes: exists already")}) {
    const Outcome outcome = apart({"check", "scene.json", "--fix", file});
    EXPECT_EQ(outcome.code, 2) << file;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(read_file(directory / "scene.json"), before);
  for (const char* leftover : {"scene-meshes", "fixed.txt", "fixed-meshes", "there.json"})
    EXPECT_FALSE(fs::exists(directory / leftover)) << leftover;
}

TEST_F(Checks, MovedPointsMustFitTheMesh) {
  scene(box("a", "[0, 0, 0]") + "," + box("b", "[0.198, 0.1, 0.05]"));
  ASSERT_EQ(apart({"check", "scene.json", "--fix", "fixed.json"}).code, 0);
  const Outcome other = apart({"check", "fixed.json", "--set", "bodies[a].mesh.cells=3"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("has 27 points, the body 64"), std::string::npos) << other.err;
  const Outcome copies = apart(
      {"check", "fixed.json", "--set", R"(bodies[a].array={"counts": [2, 1, 1], "spacing": [5, 0, 0]})"});
  EXPECT_EQ(copies.code, 2);
  EXPECT_NE(copies.err.find("write the copies of an array one by one"), std::string::npos) << copies.err;
  EXPECT_EQ(apart({"check", "fixed.json", "--set", "bodies[a].moved_points=nowhere.vtu"}).code, 2);
}

TEST_F(Checks, RefusesToMoveWhatIsDeepInsideSomethingElse) {
  scene(box("a", "[0, 0, 0]") + "," + box("b", "[0.02, 0.01, 0.05]"));
  const Outcome outcome = apart({"check", "scene.json", "--fix", "fixed.json"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("too deep in each other"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(directory / "fixed.json"));
}

TEST_F(Checks, AProfiledRunShowsWhereTheTimeWent) {
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
}  // namespace apart::test
