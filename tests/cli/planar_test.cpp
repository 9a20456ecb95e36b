// Runs of planar bodies: proven from end to end, the same bits after an interruption and for any threads.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

namespace apart::test {
namespace {

constexpr const char* falling_shapes = R"({"version": 1, "time": {"dt": 0.02, "steps": 25},
  "bodies": [
    {"type": "half_space", "name": "floor"},
    {"type": "planar", "name": "hook", "depth": 0.1, "velocity": [0, -2, 0], "angular_velocity": [0, 0, 90],
     "mesh": {"generator": "polygon", "edge": 0.06,
              "corners": [[0, 0], [0.4, 0], [0.4, 0.3], [0.3, 0.3], [0.3, 0.1], [0.1, 0.1], [0.1, 0.4], [0, 0.4]]},
     "transform": {"translate": [-0.2, 0.4, 0]},
     "material": {"type": "neo_hookean", "E": 1e5, "nu": 0.3, "rho": 1000},
     "regions": [{"where": {"box": {"min": [-1, 0.6, -1], "max": [1, 1, 1]}},
                  "material": {"type": "neo_hookean", "E": 4e5, "nu": 0.3, "rho": 500}}]},
    {"type": "planar", "name": "disc", "plane": "stress", "mass": "consistent", "depth": 0.1,
     "mesh": {"generator": "disc", "radius": 0.1, "resolution": 4}, "transform": {"translate": [0.02, 1.0, 0]},
     "velocity": [0, -4, 0]},
    {"type": "planar", "name": "wall", "mesh": {"generator": "rectangle", "size": [0.1, 1], "cells": [1, 2]},
     "transform": {"translate": [0.4, 0.6, 0]}, "motion": {"translate": ["-0.2*t", 0, 0]}}],
  "probes": [{"name": "low", "type": "position", "body": "disc"},
             {"name": "push", "type": "pressure", "body": "hook"}],
  "contact": {"dhat": 4e-3, "friction_coefficient": 0.3}})";

class PlanarRun : public ::testing::Test {
 protected:
  PlanarRun() { write_file(directory / "scene.json", falling_shapes); }
  Outcome call(const std::vector<std::string>& arguments) const {
    return run_program(APART_PROGRAM, arguments, directory.path());
  }
  std::string file(const std::string& name) const { return read_file(directory / name); }
  TemporaryDirectory directory;
};

TEST_F(PlanarRun, IsProvenAndGivesTheSameBitsResumedAndWithMoreThreads) {
  const Outcome whole = call({"run", "scene.json", "-o", "whole", "--record-iterates", "--threads", "1"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto summary = nlohmann::json::parse(file("whole/summary.json"));
  EXPECT_GT(summary["max_contacts"], 0);
  const Outcome verified = call({"verify", "whole"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  EXPECT_NE(verified.out.find("planar triangles"), std::string::npos) << verified.out;
  const auto certificate = nlohmann::json::parse(file("whole/certificate.json"));
  EXPECT_EQ(certificate["coverage"], "all_paths");
  EXPECT_GT(certificate["planar_triangles"], 100);
  EXPECT_EQ(certificate["faces"], 0);

  ASSERT_EQ(
      call({"run", "scene.json", "-o", "part", "--record-iterates", "--threads", "2", "--steps", "13"}).code,
      0);
  const Outcome resumed = call({"run", "--resume", "part", "--threads", "2"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  for (const std::string name : {"frames/frame_000025.vtu", "steps.csv", "probes.csv", "digests.txt"})
    EXPECT_EQ(file("part/" + name), file("whole/" + name)) << name;
}

TEST_F(PlanarRun, WithMeshesThatChangeIsProvenAndGivesTheSameBitsResumedAndWithMoreThreads) {
  write_file(directory / "bar.json", R"({"version": 1, "time": {"dt": 0.02, "steps": 12},
    "bodies": [
      {"type": "planar", "name": "bar", "velocity": [0, -2, 0],
       "mesh": {"generator": "rectangle", "size": [1, 0.25], "cells": [6, 2]}, "transform": {"translate": [0, 0.14, 0]},
       "material": {"type": "neo_hookean", "E": 2e4, "nu": 0.3, "rho": 1000},
       "remesh": {"delta_split": 0.2, "delta_collapse": -1e-4, "min_edge": 0.01}},
      {"type": "planar", "name": "wedge", "fixed": [{"where": {"all": true}}],
       "mesh": {"generator": "polygon", "edge": 0.2, "corners": [[-0.2, -0.4], [0.2, -0.4], [0, 0]]}}],
    "contact": {"formulation": "convergent", "barrier_stiffness": 1e4, "dhat": 4e-3}})");
  const Outcome whole = call({"run", "bar.json", "-o", "whole", "--record-iterates", "--threads", "1"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_GT(nlohmann::json::parse(file("whole/summary.json"))["splits"], 0);
  const Outcome verified = call({"verify", "whole"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  ASSERT_EQ(
      call({"run", "bar.json", "-o", "part", "--record-iterates", "--threads", "2", "--steps", "7"}).code, 0);
  const Outcome resumed = call({"run", "--resume", "part", "--threads", "2"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  for (const std::string name : {"frames/frame_000012.vtu", "steps.csv", "digests.txt"})
    EXPECT_EQ(file("part/" + name), file("whole/" + name)) << name;
}

TEST_F(PlanarRun, CanBeCheckedDrawnAndExported) {
  const Outcome checked = call({"check", "scene.json"});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  EXPECT_NE(checked.out.find("planar"), std::string::npos) << checked.out;
  ASSERT_EQ(call({"run", "scene.json", "-o", "out", "--steps", "3"}).code, 0);
  const Outcome drawn =
      call({"render", "out", "-o", "a.png", "--size", "64x48", "--samples", "1", "--colour", "stress"});
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  for (const std::string format : {"gltf", "usda"}) {
    const std::string name = format == "gltf" ? "a.glb" : "a.usda";
    const Outcome exported = call({"export", "out", "--format", format, "-o", name});
    EXPECT_EQ(exported.code, 0) << format << exported.err;
    EXPECT_GT(file(name).size(), 1000u) << format;
  }
}

TEST_F(PlanarRun, OverlappingAndNestedBodiesAreRefusedAtTheStart) {
  const auto two = [](const char* place) {
    return std::string(R"({"version": 1, "time": {"dt": 0.01, "steps": 1}, "bodies": [
      {"type": "planar", "name": "large", "mesh": {"generator": "rectangle", "cells": [2, 2]}},
      {"type": "planar", "name": "small", "mesh": {"generator": "rectangle", "size": [0.1, 0.1], "cells": [1, 1]},
       "transform": {"translate": )") +
           place + "}}]}";
  };
  write_file(directory / "crossing.json", two("[0.5, 0, 0]"));
  write_file(directory / "nested.json", two("[0.21, 0.13, 0]"));
  write_file(directory / "behind.json", two("[0.21, 0.13, 1]"));
  const Outcome crossing = call({"run", "crossing.json"}), nested = call({"run", "nested.json"});
  EXPECT_EQ(crossing.code, 2);
  EXPECT_NE(crossing.err.find("intersect"), std::string::npos) << crossing.err;
  EXPECT_EQ(nested.code, 2);
  EXPECT_NE(nested.err.find("inside"), std::string::npos) << nested.err;
  EXPECT_EQ(call({"run", "behind.json"}).code, 0);
}

}  // namespace
}  // namespace apart::test
