// What the program promises about files it writes besides runs, and about small words.
#include <apart/geometry/generators.hpp>
#include <apart/io/mesh_format.hpp>

#include <gtest/gtest.h>
#include <support/program_test.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

class Outputs : public ProgramTest {
 protected:
  void simulate() {
    write_file(directory / "scene.json", R"({"version": 1, "time": {"dt": 0.01, "steps": 1},
      "bodies": [{"type": "half_space", "name": "floor"},
                 {"type": "affine", "name": "box", "mesh": {"generator": "box", "size": 0.1, "cells": 1},
                  "transform": {"translate": [0, 0.2, 0]}}]})");
    ASSERT_EQ(apart({"run", "scene.json", "-o", "run"}).code, 0);
  }
  /// The command is refused while its output is there, and obeyed with --force.
  void expect_refused_without_force(std::vector<std::string> arguments, const fs::path& output) {
    write_file(directory.path() / output, "precious");
    const Outcome refused = apart(arguments);
    EXPECT_EQ(refused.code, 2) << arguments[0] << refused.out;
    EXPECT_NE(refused.err.find(output.string() + ": exists"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("--force"), std::string::npos) << refused.err;
    EXPECT_EQ(read_file(directory.path() / output), "precious") << arguments[0];
    arguments.push_back("--force");
    const Outcome forced = apart(arguments);
    EXPECT_EQ(forced.code, 0) << arguments[0] << forced.err;
    EXPECT_NE(read_file(directory.path() / output), "precious") << arguments[0];
  }
};

TEST_F(Outputs, AreNotReplacedUnlessForced) {
  simulate();
  fs::create_directories(directory / "input");
  apart::write_mesh(directory / "input/ball.msh", apart::generate::sphere(0.1, 1));
  write_file(directory / "fall.txt", "shapes input 1\ninput/ball.msh 0 1 0 0 0 0 1 1 1\ntime 0.1 0.02\n");
  expect_refused_without_force({"examples", "slope", "-o", "a.json"}, "a.json");
  expect_refused_without_force({"convert", "fall.txt", "b.json"}, "b.json");
  expect_refused_without_force({"export", "run", "--format", "gltf", "-o", "c.glb"}, "c.glb");
  expect_refused_without_force({"export", "run", "--format", "usda"}, "run.usda");
  expect_refused_without_force({"render", "run", "-o", "d.png", "--size", "32x24", "--samples", "1"},
                               "d.png");
  expect_refused_without_force({"render", "run", "--size", "32x24", "--samples", "1"},
                               "run/frame_000001.png");
  EXPECT_EQ(apart({"examples", "-o", "e.json"}).code, 64) << "an output, but no example";
}

TEST_F(Outputs, NeverTakeThePlaceOfFilesOfARun) {
  simulate();
  for (const char* file : {"summary.json", "scene.json", "checkpoint", "steps.csv", "certificate.json"}) {
    const fs::path target = fs::path("run") / file;
    const std::string before =
        fs::exists(directory.path() / target) ? read_file(directory.path() / target) : "";
    for (const std::vector<std::string>& arguments : {
             std::vector<std::string>{"export", "run", "--format", "gltf", "-o", target.string(), "--force"},
             std::vector<std::string>{"examples", "slope", "-o", target.string(), "--force"},
             std::vector<std::string>{"examples", "slope", "-o", "run/../run/" + std::string(file),
                                      "--force"},
         }) {
      const Outcome outcome = apart(arguments);
      EXPECT_EQ(outcome.code, 2) << arguments[0] << " " << file;
      EXPECT_NE(outcome.err.find("is one of the files of the run in this folder"), std::string::npos)
          << outcome.err;
    }
    EXPECT_EQ(fs::exists(directory.path() / target) ? read_file(directory.path() / target) : "", before)
        << file;
  }
  EXPECT_EQ(apart({"examples", "slope", "-o", "run/frames/frame_000000.vtu", "--force"}).code, 2);
  EXPECT_EQ(apart({"export", "run", "--format", "vtu", "-o", "run", "--force"}).code, 2);
  EXPECT_EQ(apart({"verify", "run"}).code, 0);
}

TEST_F(Outputs, FoldersOfAnEarlierExportAreReplacedAsAWholeIfForced) {
  simulate();
  for (const char* format : {"obj", "ply", "vtu"}) {
    ASSERT_EQ(apart({"export", "run", "--format", format, "-o", format}).code, 0);
    const auto whole = content_of(directory.path() / format);
    const Outcome again = apart({"export", "run", "--format", format, "-o", format, "--first", "1"});
    EXPECT_EQ(again.code, 2) << format;
    EXPECT_NE(again.err.find("--force"), std::string::npos) << again.err;
    EXPECT_EQ(apart({"export", "run", "--format", format, "-o", format, "--first", "1", "--force"}).code, 0);
    EXPECT_LT(content_of(directory.path() / format).size(), whole.size()) << "no frame of the first";
    write_file(directory.path() / format / "notes.txt", "precious");
    EXPECT_EQ(apart({"export", "run", "--format", format, "-o", format, "--force"}).code, 2);
    EXPECT_EQ(read_file(directory.path() / format / "notes.txt"), "precious");
  }
}

TEST_F(Outputs, ProblemsOfASceneHaveAFileOfTheirOwn) {
  write_file(directory / "bad.json", R"({"version": 1, "time": {"dt": 0.01, "steps": 1}, "bodies": [
      {"type": "volume", "name": "a", "mesh": {"generator": "box", "size": 0.1, "cells": 1}},
      {"type": "volume", "name": "b", "mesh": {"generator": "box", "size": 0.1, "cells": 1},
       "transform": {"translate": [0.05, 0.01, 0.02]}}]})");
  EXPECT_EQ(apart({"check", "bad.json"}).code, 2);
  const std::string first = read_file(directory / "bad-problems.vtu");
  const Outcome second = apart({"check", "bad.json"});
  EXPECT_NE(second.err.find("bad-problems-2.vtu"), std::string::npos) << second.err;
  write_file(directory / "mine.vtu", "precious");
  EXPECT_EQ(apart({"check", "bad.json", "-o", "mine.vtu"}).code, 2);
  EXPECT_EQ(read_file(directory / "mine.vtu"), "precious");
  EXPECT_EQ(apart({"check", "bad.json", "-o", "mine.vtu", "--force"}).code, 2);
  EXPECT_NE(read_file(directory / "mine.vtu"), "precious");
}

TEST_F(Outputs, AnUnknownCommandGetsTheNearestAsSuggestion) {
  const Outcome typed = apart({"chekc", "slope"});
  EXPECT_EQ(typed.code, 64);
  EXPECT_EQ(typed.err, "'chekc' is not a command; did you mean 'apart check'?\n");
  EXPECT_NE(apart({"exmaples"}).err.find("'apart examples'"), std::string::npos);
  const Outcome far = apart({"simulate-this-now"});
  EXPECT_EQ(far.code, 64);
  EXPECT_NE(far.err.find("the commands are new, run, check, verify"), std::string::npos) << far.err;
  write_file(directory / "scene.json", "{}");
  EXPECT_NE(apart({"scene.json"}).err.find("apart run scene.json"), std::string::npos);
}

TEST_F(Outputs, HelpHasNoSignsOfTheParser) {
  for (const char* command :
       {"run", "check", "verify", "render", "export", "examples", "convert", "schema", "view", "ccd"}) {
    const std::string help = apart({command, "--help"}).out;
    EXPECT_EQ(help.find_first_of("{}"), std::string::npos) << help;
    EXPECT_EQ(help.find(command) == std::string::npos, false) << help;
  }
}

TEST_F(Outputs, OneThingIsNotSeveral) {
  write_file(directory / "scene.json", R"({"version": 1, "time": {"dt": 0.01, "steps": 1},
    "bodies": [{"type": "affine", "name": "box", "mesh": {"generator": "box", "size": 0.1, "cells": 1}}]})");
  ASSERT_EQ(apart({"run", "scene.json", "-o", "run", "--threads", "1"}).code, 0);
  const std::string log = read_file(directory / "run/log.txt");
  EXPECT_NE(log.find(" 1 thread\n"), std::string::npos) << log;
  EXPECT_NE(log.find("1 body,"), std::string::npos) << log;
  EXPECT_NE(log.find("of 1 step,"), std::string::npos) << log;
}

TEST_F(Outputs, WarningsOfCheckAreThoseOfARun) {
  write_file(directory / "scene.json",
             R"({"version": 1, "time": {"dt": 0.01, "steps": 1}, "solver": {"tolerance": 1e-5},
    "bodies": [{"type": "volume", "name": "beam",
                "mesh": {"generator": "box", "size": [1, 0.1, 0.1], "cells": [10, 1, 1]}}]})");
  const Outcome checked = apart({"check", "scene.json"}), run = apart({"run", "scene.json", "-o", "run"});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::size_t begin = checked.out.find("warning: 'beam' is 1 m long and one cell thick");
  ASSERT_NE(begin, std::string::npos) << checked.out;
  const std::string line = checked.out.substr(begin, checked.out.find('\n', begin) - begin);
  EXPECT_NE(run.err.find(line), std::string::npos) << run.err;
  EXPECT_NE(read_file(directory / "run/log.txt").find(line), std::string::npos);
  const auto summary = nlohmann::json::parse(read_file(directory / "run/summary.json"));
  ASSERT_EQ(summary["warnings"].size(), 1u);
  EXPECT_EQ("warning: " + summary["warnings"][0].get<std::string>(), line);
}

// ---- bounds --------------------------------------------------------------------------------------

TEST_F(Outputs, WhatNeedsMoreMemoryThanAllowedIsRefusedAndCanGoOn) {
  write_file(directory / "scene.json", R"({"version": 1, "time": {"dt": 0.01, "steps": 2}, "bodies": [
    {"type": "shell", "name": "cloth", "mesh": {"generator": "grid", "size": [1, 1], "cells": [100, 100]},
     "material": {"type": "neo_hookean", "E": 1e6, "rho": 500, "thickness": 1e-3}}],
    "contact": {"dhat": 2}})");
  const Outcome outcome = apart({"run", "scene.json", "-o", "run", "--memory", "2G"});
  EXPECT_EQ(outcome.code, 3);
  for (const char* part : {"pairs of primitives within 2 m", "the limit is 2 GB", "lower contact.dhat",
                           "--resume run --memory SIZE"})
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  EXPECT_LT(outcome.peak_bytes, 2'000'000'000u);
  EXPECT_TRUE(fs::exists(directory / "run/checkpoint"));
  EXPECT_EQ(nlohmann::json::parse(read_file(directory / "run/summary.json"))["status"], "failed");
  EXPECT_EQ(apart({"check", "scene.json", "--memory", "2G"}).code, 3) << "says so beforehand";
  EXPECT_EQ(apart({"run", "scene.json", "--memory", "much"}).code, 64);
}

TEST_F(Outputs, AnInterruptionActsInTheMiddleOfAFactorisation) {
  // By the slow method, a factorisation takes half a minute.
  write_file(directory / "scene.json", R"({"version": 1, "time": {"dt": 0.01, "steps": 2}, "bodies": [
    {"type": "volume", "mesh": {"generator": "box", "size": 1, "cells": 26}}], "contact": {"dhat": 0.001},
    "solver": {"linear_solver": "eigen", "ordering": "amd"}})");
  int looks = 0;
  std::chrono::steady_clock::time_point sent;
  const auto in_first_step = [&](const std::string&) {
    sent = std::chrono::steady_clock::now();
    looks += fs::exists(directory / "run/checkpoint");
    return looks > 250;  // half a second: the matrix has been assembled
  };
  const Outcome outcome = apart({"run", "scene.json", "-o", "run"}, {in_first_step});
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - sent;
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_LT(waited.count(), 10) << "a second, and less than the factorisation on the busiest machine";
  EXPECT_NE(outcome.err.find("interrupted after step 0; continue with: apart run --resume run"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(read_file(directory / "run/summary.json"))["status"], "interrupted");
}

// ---- meshes --------------------------------------------------------------------------------------

/// A cube of triangles as modelling programs write it: every triangle has points of its own, some a little
/// beside the others'.
std::string loose_cube(double noise) {
  const apart::Mesh box = apart::generate::box({1, 1, 1}, {1, 1, 1});
  const apart::Faces faces = apart::boundary_faces(box.tetrahedra);
  std::string text;
  for (int f = 0; f < faces.cols(); ++f) {
    for (int k = 0; k < 3; ++k) {
      const apart::Vector3 x = box.points.col(faces(k, f));
      text += fmt::format("v {:.17g} {:.17g} {:.17g}\n", x[0] + noise * (f % 3 - 1), x[1], x[2] - noise * k);
    }
    text += fmt::format("f {} {} {}\n", 3 * f + 1, 3 * f + 2, 3 * f + 3);
  }
  return text;
}

std::string scene_of(const std::string& mesh, const std::string& type = "affine") {
  return R"({"version": 1, "time": {"dt": 0.01, "steps": 1},
    "bodies": [{"type": ")" +
         type + R"(", "name": "cube", "mesh": {)" + mesh + "}}]}";
}

TEST_F(Outputs, PointsThatCoincideAreMergedAndReported) {
  write_file(directory / "cube.obj", loose_cube(1e-9));
  write_file(directory / "scene.json", scene_of(R"("file": "cube.obj")"));
  const Outcome outcome = apart({"check", "scene.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("bodies[0].mesh.file: 28 points are closer to others"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("8 left"), std::string::npos) << outcome.err;
  const Outcome run = apart({"run", "scene.json", "-o", "run"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("28 points are closer to others"), std::string::npos) << run.err;
  EXPECT_NE(read_file(directory / "run/log.txt").find("28 points are closer"), std::string::npos);

  write_file(directory / "scene.json", scene_of(R"("file": "cube.obj", "weld": 0)"));
  const Outcome apart_again = apart({"check", "scene.json"});
  EXPECT_EQ(apart_again.code, 2);
  EXPECT_NE(apart_again.err.find("do not bound a volume"), std::string::npos) << apart_again.err;
  write_file(directory / "cube.obj", loose_cube(1e-3));  // not the same place
  write_file(directory / "scene.json", scene_of(R"("file": "cube.obj")"));
  EXPECT_EQ(apart({"check", "scene.json"}).code, 2);
  write_file(directory / "scene.json", scene_of(R"("file": "cube.obj", "weld": 0.005)"));
  EXPECT_EQ(apart({"check", "scene.json"}).code, 0);
}

TEST_F(Outputs, AVolumeWithoutTetrahedraGetsAMessageHowToMakeThem) {
  write_file(directory / "cube.obj", loose_cube(0));
  write_file(directory / "scene.json", scene_of(R"("file": "cube.obj")", "volume"));
  const Outcome file = apart({"check", "scene.json"});
  EXPECT_EQ(file.code, 2);
  EXPECT_NE(file.err.find("\"tetrahedralize\": true"), std::string::npos) << file.err;
  const std::string points = R"("points": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "triangles": )";
  write_file(directory / "scene.json", scene_of(points + "[[0,2,1],[0,1,3],[0,3,2],[1,2,3]]", "volume"));
  EXPECT_NE(apart({"check", "scene.json"}).err.find("fill its surface with \"tetrahedralize\": true"),
            std::string::npos);
  write_file(directory / "scene.json", scene_of(points + "[[0,2,1],[0,1,3],[0,3,2]]", "volume"));
  const Outcome open = apart({"check", "scene.json"});
  EXPECT_NE(open.err.find("\"tetrahedralize\": true fills a closed surface, but this one is open"),
            std::string::npos)
      << open.err;
  write_file(directory / "scene.json", scene_of(R"("generator": "grid")", "volume"));
  const Outcome generated = apart({"check", "scene.json"});
  EXPECT_EQ(generated.code, 2);
  EXPECT_EQ(generated.err.find("tetrahedralize"), std::string::npos) << generated.err;
}

// ---- all errors at once --------------------------------------------------------------------------

TEST_F(Outputs, UnknownNamesAreReportedTogetherWithEverythingElse) {
  const auto scene = [](const std::string& mesh, const std::string& more) {
    return R"({"version": 1, "time": {"dt": 0.01, "steps": 1},
      "bodies": [{"type": "volume", "name": "beam", "mesh": {)" +
           mesh + R"(}}, {"type": "volume", "name": "ball", "mesh": {"generator": "sphere"},
        "transform": {"translate": [0, 3, 0]}, "array": {"counts": [2, 1, 1], "spacing": [3, 0, 0]}}],
      "contact": {"pairs": [{"bodies": ["beem", "ball"], "enabled": false},
                            {"bodies": ["ball.1", "bal"], "enabled": false}]},
      "attachments": [{"bodies": ["beam", "bell"], "where": {"all": true}}],
      "probes": [{"name": "p", "type": "momentum", "body": "baem"}])" +
           more + "}";
  };
  const auto expect_all = [](const Outcome& outcome, const std::string& other) {
    EXPECT_EQ(outcome.code, 2);
    for (const std::string& part :
         {std::string("contact.pairs[0].bodies[0]: got \"beem\""), std::string("did you mean \"beam\"?"),
          std::string("contact.pairs[1].bodies[1]: got \"bal\""),
          std::string("attachments[0].bodies[1]: got \"bell\""), std::string("probes[0].body: got \"baem\""),
          other})
      EXPECT_NE(outcome.err.find(part), std::string::npos) << part << "\n" << outcome.err;
    EXPECT_EQ(outcome.err.find("ball.1"), std::string::npos) << outcome.err;
  };
  write_file(directory / "scene.json", scene(R"("generator": "box")", ""));
  expect_all(apart({"check", "scene.json"}), "");
  write_file(directory / "scene.json", scene(R"("file": "none.obj")", ""));
  expect_all(apart({"check", "scene.json"}), "none.obj");
  write_file(directory / "scene.json", scene(R"("generator": "box")", R"(, "gravitty": [0, 0, 0])"));
  expect_all(apart({"check", "scene.json"}), "did you mean 'gravity'?");
}

TEST_F(Outputs, AllAttachmentsAndProbesThatAreWrongAreReported) {
  write_file(directory / "scene.json", R"({"version": 1, "time": {"dt": 0.01, "steps": 1},
    "bodies": [{"type": "volume", "name": "a", "mesh": {"generator": "box"}},
               {"type": "volume", "name": "b", "mesh": {"generator": "box"}, "transform": {"translate": [0, 3, 0]}}],
    "attachments": [{"bodies": ["a", "b"], "where": {"all": true}, "max_distance": 0.1},
                    {"bodies": ["b", "b"], "where": {"all": true}}]})");
  const Outcome outcome = apart({"check", "scene.json"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("attachments[0]"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("attachments[1]"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace apart::test
