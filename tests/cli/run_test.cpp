// What the program promises about runs: the run directory, interruption, resuming, wrong usage.
#include <gtest/gtest.h>
#include <support/program_test.hpp>

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

Outcome apart_program(const std::vector<std::string>& arguments, const fs::path& directory,
                      const Signal& signal = {}) {
  return run_program(APART_PROGRAM, arguments, directory, signal);
}

nlohmann::json summary_of(const fs::path& run) {
  return nlohmann::json::parse(read_file(run / "summary.json"));
}

// Two balls, one on a soft box, with friction: enough for contacts, too small to take time.
const std::string small_scene = R"({
  "version": 1,
  "time": {"dt": 0.02, "steps": 12},
  "bodies": [
    {"type": "half_space", "name": "floor"},
    {"type": "volume", "name": "box", "mesh": {"generator": "box", "size": [0.4, 0.1, 0.4], "cells": [3, 1, 3]},
     "transform": {"translate": [0, 0.052, 0]}},
    {"type": "volume", "name": "ball", "mesh": {"generator": "sphere", "radius": 0.1, "resolution": 2},
     "transform": {"translate": [0, 0.21, 0]}, "velocity": [0.3, -1, 0]}],
  "contact": {"friction_coefficient": 0.3},
  "output": {"every": 5, "formats": ["obj"]}
})";

class Runs : public ProgramTest {
 protected:
  Runs() { write_file(directory / "scene.json", small_scene); }
  Outcome run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    return apart(arguments);
  }
};

TEST_F(Runs, WithBodiesThatAppearAndDisappearAreProvenAndResumeToTheSameBits) {
  write_file(directory / "scene.json", R"({
    "version": 1,
    "time": {"dt": 0.02, "steps": 16},
    "bodies": [
      {"type": "half_space", "name": "floor"},
      {"type": "volume", "name": "first", "mesh": {"generator": "box", "size": 0.1, "cells": 1},
       "transform": {"translate": [0, 0.06, 0]}, "disappears": 0.24},
      {"type": "volume", "name": "second", "mesh": {"generator": "box", "size": 0.1, "cells": 1},
       "transform": {"translate": [0.02, 0.17, 0]}, "velocity": [0, -1, 0], "appears": 0.08}],
    "contact": {"friction_coefficient": 0.3},
    "output": {"every": 3}
  })");
  ASSERT_EQ(run({"scene.json", "-o", "whole", "--record-iterates"}).code, 0);
  const Outcome verified = apart_program({"verify", "whole"}, directory.path());
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  for (const std::string steps : {"2", "4", "6", "12"}) {
    ASSERT_EQ(run({"scene.json", "-o", "part" + steps, "--steps", steps}).code, 0);
    ASSERT_EQ(run({"--resume", "part" + steps, "--steps", "16"}).code, 0);
    EXPECT_EQ(read_file(directory / "whole/checkpoint"),
              read_file(directory / ("part" + steps) / "checkpoint"))
        << steps;
  }
}

TEST_F(Runs, LeaveADirectoryWithEverythingInIt) {
  const Outcome outcome = run({"scene.json", "-o", "out", "--threads", "1"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<std::string> expected = {"checkpoint",
                                             "checkpoint.older",
                                             "digests.txt",
                                             "frames",
                                             "frames.pvd",
                                             "frames/frame_000000.obj",
                                             "frames/frame_000000.vtu",
                                             "frames/frame_000001.obj",
                                             "frames/frame_000001.vtu",
                                             "frames/frame_000002.obj",
                                             "frames/frame_000002.vtu",
                                             "frames/frame_000003.obj",
                                             "frames/frame_000003.vtu",  // steps 0, 5, 10 and 12
                                             "log.txt",
                                             "scene.json",
                                             "steps.csv",
                                             "summary.json"};
  EXPECT_EQ(content_of(directory / "out"), expected);
  EXPECT_EQ(line_count(directory / "out/steps.csv"), 13u);

  const nlohmann::json summary = summary_of(directory / "out");
  for (const char* key : {"steps",           "simulated_seconds", "wall_seconds",
                          "cpu_seconds",     "threads",           "newton_iterations",
                          "linear_solves",   "max_contacts",      "mean_contacts",
                          "min_distance",    "min_gap",           "min_volume_ratio",
                          "max_strain",      "max_stretch",       "max_compression",
                          "peak_rss_bytes",  "intersection_free", "inversion_free",
                          "converged_steps", "timings",           "dofs",
                          "scene_digest",    "run_digest",        "version"})
    EXPECT_TRUE(summary.contains(key)) << key;
  EXPECT_EQ(summary["steps"], 12);
  EXPECT_EQ(summary["converged_steps"], 12);
  EXPECT_NEAR(summary["simulated_seconds"].get<double>(), 0.24, 1e-12);
  EXPECT_EQ(summary["status"], "finished");
  EXPECT_EQ(summary["interrupted"], false);
  EXPECT_EQ(summary["intersection_free"], true);
  EXPECT_EQ(summary["inversion_free"], true);
  EXPECT_EQ(summary["threads"], 1);
  EXPECT_GT(summary["max_contacts"], 0);
  EXPECT_GT(summary["newton_iterations"], 12);
  EXPECT_GT(summary["min_distance"], 0);
  double total = 0;
  for (const char* phase :
       {"assembly", "linear_solve", "broad_phase", "ccd", "line_search", "remeshing", "output", "other"})
    total += summary["timings"].at(phase).get<double>();
  EXPECT_NEAR(total, summary["wall_seconds"].get<double>(), 0.1 * total + 0.1);

  const Outcome verified = apart_program({"verify", "out"}, directory.path());
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

TEST_F(Runs, ShowOnePlainLinePerStepInALog) {
  const Outcome outcome = run({"scene.json", "-o", "out", "--steps", "3"});
  std::istringstream lines(outcome.out);
  std::string line;
  for (int step = 1; step <= 3; ++step) {
    std::getline(lines, line);
    EXPECT_TRUE(line.starts_with("step " + std::to_string(step) + "/3  t ")) << line;
    for (const char* part : {"iterations", "contacts", "smallest gap", "left"})
      EXPECT_NE(line.find(part), std::string::npos) << line;
    EXPECT_EQ(line.find_first_of("\r\x1b"), std::string::npos);
  }
}

TEST_F(Runs, SayThatEnergyGrowsBeyondTheWorkDoneAndOnlyThen) {
  // A stiff box that turns by about six degrees in a step.
  for (const std::string integrator : {"newmark", "implicit_euler", "bdf2", "generalized_alpha"}) {
    write_file(directory / "turning.json", R"({"version": 1, "gravity": [0, 0, 0],
      "time": {"dt": 0.01, "steps": 300, "integrator": ")" +
                                               integrator +
                                               R"("},
      "bodies": [{"type": "affine", "name": "box", "material": {"type": "orthogonality", "stiffness": 1e8},
                  "mesh": {"generator": "box", "size": [0.2, 0.1, 0.05], "cells": [1, 1, 1]},
                  "angular_velocity": [344, 172, 516]}],
      "output": {"every": 300}})");
    const Outcome outcome = run({"turning.json", "-o", integrator});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const bool grows = integrator == "newmark";
    EXPECT_EQ(outcome.err.find("energy has grown") != std::string::npos, grows) << integrator << outcome.err;
    EXPECT_EQ(read_file(directory / integrator / "log.txt").find("energy has grown") != std::string::npos,
              grows);
    const double gain = summary_of(directory / integrator)["energy_gain"];
    EXPECT_EQ(gain > 0.2, grows) << integrator << ": " << gain;
  }
}

TEST_F(Runs, OfTheSceneAsUnderstoodGiveTheSameBits) {
  ASSERT_EQ(run({"scene.json", "-o", "first", "--threads", "1"}).code, 0);
  fs::create_directory(directory / "elsewhere");
  fs::copy_file(directory / "first/scene.json", directory / "elsewhere/again.json");
  ASSERT_EQ(run({"elsewhere/again.json", "-o", "second", "--threads", "2"}).code, 0);
  for (const char* file : {"checkpoint", "steps.csv", "frames/frame_000002.vtu", "scene.json"})
    EXPECT_EQ(read_file(directory / "first" / file), read_file(directory / "second" / file)) << file;
}

TEST_F(Runs, GiveTheSameBitsWhereverMemoryIs) {
  // A ball that would move by ten times its radius in a step: many short parts, and the first scene whose
  // bits were seen to depend on where memory is.
  write_file(directory / "ball-and-board.json", R"({
    "version": 1,
    "time": {"dt": 0.02, "steps": 1},
    "gravity": [0, 0, 0],
    "bodies": [
      {"type": "obstacle", "name": "board",
       "mesh": {"generator": "grid", "size": [1, 1], "cells": [6, 6]}, "transform": {"rotate": [0, 0, -90]}},
      {"type": "volume", "name": "ball",
       "mesh": {"generator": "sphere", "radius": 0.2, "resolution": 4},
       "transform": {"translate": [0.5, 0, 0]}, "velocity": [-100, 0, 0],
       "material": {"type": "neo_hookean", "E": 1e7, "nu": 0.4, "rho": 1000}}]
  })");
  struct Scene {
    std::string name, steps, last_frame;
  };
  for (const auto& [scene, steps, last_frame] : {Scene{"ball-and-board.json", "1", "frame_000001.vtu"},
                                                 Scene{"bowl-of-shapes", "20", "frame_000010.vtu"}}) {
    // Each setting puts what is allocated to other places, with other alignments.
    std::vector<std::string> frames;
    for (const std::string setting :
         {"X=1", "MALLOC_TOP_PAD_=12345", "GLIBC_TUNABLES=glibc.malloc.tcache_count=0"}) {
      const Outcome outcome = run_program(
          "/usr/bin/env",
          {setting, APART_PROGRAM, "run", scene, "--steps", steps, "-o", "out", "--force", "--threads", "1"},
          directory.path());
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      frames.push_back(read_file(directory / "out/frames" / last_frame));
    }
    EXPECT_TRUE(frames[0] == frames[1]) << scene;
    EXPECT_TRUE(frames[0] == frames[2]) << scene;
  }
}

TEST_F(Runs, ResumedGiveTheSameBitsAsUninterruptedOnes) {
  ASSERT_EQ(run({"scene.json", "-o", "whole", "--record-iterates"}).code, 0);
  for (const std::string steps : {"5", "7"}) {  // with and without a frame due
    const std::string part = "part" + steps;
    ASSERT_EQ(run({"scene.json", "-o", part, "--record-iterates", "--steps", steps}).code, 0);
    EXPECT_EQ(summary_of(directory / part)["steps"], std::stoi(steps));
    const Outcome outcome = run({"--resume", part});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(content_of(directory / part), content_of(directory / "whole"));
    for (const std::string& file : content_of(directory / "whole"))
      if (fs::is_regular_file(directory / "whole" / file) && file != "summary.json" && file != "log.txt" &&
          file != "checkpoint.older") {
        EXPECT_EQ(read_file(directory / part / file), read_file(directory / "whole" / file)) << file;
      }
    auto resumed = summary_of(directory / part), whole = summary_of(directory / "whole");
    for (const char* key : {"steps", "newton_iterations", "max_contacts", "mean_contacts", "min_distance",
                            "min_gap", "min_volume_ratio", "max_strain", "frames", "status"})
      EXPECT_EQ(resumed[key], whole[key]) << key;
    EXPECT_EQ(apart_program({"verify", part}, directory.path()).code, 0);
  }
}

TEST_F(Runs, ResumedWriteTheFrameOfTheirCheckpointFromItAlone) {
  // Friction as it acted, and the stress of strain limits whose stiffness had grown.
  write_file(directory / "limited.json", R"({
    "version": 1,
    "time": {"dt": 0.01, "steps": 20},
    "bodies": [
      {"type": "shell", "name": "cloth", "thickness": 1e-3,
       "mesh": {"generator": "grid", "size": [0.2, 0.2], "cells": [4, 4]},
       "material": {"type": "koiter", "membrane_scale": 1e-5}, "velocity": [10, 0, 0],
       "strain_limit": {"upper": 1.01, "stiffness": 1e-3},
       "fixed": [{"where": {"box": {"min": [-0.2, -1, -0.2], "max": [-0.09, 1, 0.2]}}}]}]
  })");
  for (const std::string scene : {"scene.json", "limited.json"}) {
    const std::string out = "out-" + scene;
    const Outcome outcome = run({scene, "-o", out, "--steps", "8", "--set", "output.every=5"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const fs::path last =
        directory / out / "frames/frame_000002.vtu";  // of step 8, which is due at no other end
    const std::string before = read_file(last);
    fs::remove(last);
    ASSERT_EQ(run({"--resume", out, "--steps", "8"}).code, 0);
    EXPECT_EQ(read_file(last), before) << scene;
  }
}

TEST_F(Runs, ThatAreFinishedStayAsTheyAreWhenResumed) {
  for (const std::string every : {"1", "3"}) {  // with 3 the last frame, of step 4, is not a multiple
    const std::string out = "out" + every;
    ASSERT_EQ(
        run({"scene.json", "-o", out, "--record-iterates", "--steps", "4", "--set", "output.every=" + every})
            .code,
        0);
    const std::string index = read_file(directory / out / "frames.pvd");
    ASSERT_EQ(run({"--resume", out, "--steps", "4"}).code, 0);
    EXPECT_EQ(read_file(directory / out / "frames.pvd"), index);
    EXPECT_EQ(apart_program({"verify", out}, directory.path()).code, 0);
  }
}

TEST_F(Runs, ThatWereRefutedAreNotContinued) {
  ASSERT_EQ(run({"scene.json", "-o", "out", "--steps", "2"}).code, 0);
  nlohmann::json summary = summary_of(directory / "out");
  summary["status"] = "refuted";
  std::ofstream(directory / "out/summary.json") << summary;
  const Outcome outcome = run({"--resume", "out", "--steps", "4"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("refuted"), std::string::npos) << outcome.err;
}

TEST_F(Runs, InterruptedLeaveAValidDirectoryAndCanBeResumed) {
  const auto some_steps_done = [&](const std::string&) {
    return line_count(directory / "out/steps.csv") > 5;
  };
  const Outcome outcome = apart_program({"run", "scene.json", "-o", "out", "--set", "time.steps=100000",
                                         "--set", "output.every=100000", "--set", "output.formats=[]"},
                                        directory.path(), {some_steps_done});
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_NE(outcome.err.find("apart run --resume out"), std::string::npos) << outcome.err;
  const nlohmann::json summary = summary_of(directory / "out");
  EXPECT_EQ(summary["interrupted"], true);
  EXPECT_EQ(summary["status"], "interrupted");
  EXPECT_EQ(summary["intersection_free"], true);
  const int steps = summary["steps"];
  ASSERT_GT(steps, 0);
  EXPECT_EQ(line_count(directory / "out/steps.csv"), std::size_t(steps) + 1);
  EXPECT_EQ(summary["frames"], 2);  // the first state and the one it was interrupted in
  EXPECT_EQ(apart_program({"verify", "out"}, directory.path()).code, 0);
  EXPECT_EQ(run({"--resume", "out", "--steps", std::to_string(steps + 2)}).code, 0);
  EXPECT_EQ(summary_of(directory / "out")["steps"], steps + 2);
}

TEST_F(Runs, ThatCannotGoOnEndWithThreeAndKeepTheLastGoodState) {
  const Outcome outcome =
      run({"scene.json", "-o", "out", "--set", "solver.max_iterations=1", "--set", "solver.tolerance=1e-12"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("apart run --resume out"), std::string::npos) << outcome.err;
  const nlohmann::json summary = summary_of(directory / "out");
  EXPECT_EQ(summary["status"], "failed");
  EXPECT_FALSE(summary["reason"].get<std::string>().empty());
  EXPECT_TRUE(fs::exists(directory / "out/checkpoint"));
  EXPECT_EQ(apart_program({"verify", "out"}, directory.path()).code, 0);
  // The advice can be followed.
  EXPECT_EQ(run({"--resume", "out"}).code, 3);
  EXPECT_EQ(
      run({"--resume", "out", "--set", "solver.max_iterations=200", "--set", "solver.tolerance=1e-3"}).code,
      0);
  const auto scene = nlohmann::json::parse(read_file(directory / "out/scene.json"));
  EXPECT_EQ(scene["solver"]["max_iterations"], 200) << "what it was done with";
}

TEST_F(Runs, AreWrittenByOneProcessAtATime) {
  const std::string commands = R"("$0" run scene.json -o 'my out' --set time.steps=1000000 >/dev/null 2>&1 &
    while [ ! -e 'my out/checkpoint' ]; do sleep 0.05; done
    "$0" run --resume 'my out'; echo resumed $?
    "$0" run scene.json -o 'my out' --force; echo forced $?
    kill -INT $!; wait $!; echo first $?)";
  const Outcome outcome = run_program("/bin/sh", {"-c", commands, APART_PROGRAM}, directory.path());
  EXPECT_NE(outcome.out.find("resumed 2\nforced 2\nfirst 130\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("my out: another process is writing this run"), std::string::npos)
      << outcome.err;
  const int steps = summary_of(directory / "my out")["steps"];
  EXPECT_EQ(line_count(directory / "my out/steps.csv"), std::size_t(steps) + 1);
  EXPECT_EQ(run({"--resume", "my out", "--steps", std::to_string(steps + 1)}).code, 0);
}

TEST_F(Runs, GoOnOnlyWithTheSceneTheyBeganWith) {
  const std::string table = "v -1 0 -1\nv 1 0 -1\nv 0 0 1\nf 1 3 2\n";
  write_file(directory / "table.obj", table);
  write_file(directory / "scene.json", R"({"version": 1, "time": {"dt": 0.02, "steps": 6}, "bodies": [
    {"type": "obstacle", "name": "table", "mesh": {"file": "table.obj"}},
    {"type": "volume", "name": "ball", "mesh": {"generator": "sphere", "radius": 0.1, "resolution": 2},
     "transform": {"translate": [0, 0.2, 0]}}], "output": {"every": 4}})");
  ASSERT_EQ(run({"scene.json", "-o", "whole"}).code, 0);
  ASSERT_EQ(run({"scene.json", "-o", "out", "--steps", "3"}).code, 0);
  const auto refused = [&](std::vector<std::string> more, const std::string& part) {
    more.insert(more.begin(), {"--resume", "out"});
    const Outcome outcome = run(more);
    EXPECT_EQ(outcome.code, 2) << part;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  };
  write_file(directory / "table.obj", "v -1 0 -1\nv 1.5 0 -1\nv 0 0 1\nf 1 3 2\n");
  refused({}, "a mesh that it reads has changed since the run began");
  write_file(directory / "table.obj", table);
  const std::string scene = read_file(directory / "out/scene.json");
  auto edited = nlohmann::json::parse(scene);
  edited["contact"]["friction_coefficient"] = 0.7;
  write_file(directory / "out/scene.json", edited.dump());
  refused({}, "belongs to another scene");
  write_file(directory / "out/scene.json", scene);
  refused({"--set", "time.dt=0.01"}, "only solver settings can change");
  refused({"--steps", "2"}, "has 3 steps already");
  refused({"--record-iterates"}, "began without --record-iterates");
  fs::rename(directory / "out/frames/frame_000000.vtu", directory / "frame");
  refused({}, "frame_000000.vtu: is missing");
  EXPECT_EQ(line_count(directory / "out/steps.csv"), 4u) << "nothing was simulated";
  fs::rename(directory / "frame", directory / "out/frames/frame_000000.vtu");
  // What a killed process leaves behind goes away, what is not its own does not.
  write_file(directory / "out/checkpoint.new.77-1.tmp", "half");
  write_file(directory / "out/mine.tmp", "whole");
  EXPECT_EQ(run({"--resume", "out"}).code, 0);
  EXPECT_FALSE(fs::exists(directory / "out/checkpoint.new.77-1.tmp"));
  EXPECT_TRUE(fs::exists(directory / "out/mine.tmp"));
  EXPECT_EQ(read_file(directory / "out/checkpoint"), read_file(directory / "whole/checkpoint"));
}

TEST_F(Runs, ThatAreResumedRememberWhatTheExactCheckFound) {
  for (const std::string finding : {"inversion_free", "thickness_kept", "strain_within_limits"}) {
    ASSERT_EQ(run({"scene.json", "-o", finding, "--steps", "2"}).code, 0);
    nlohmann::json summary = summary_of(directory / finding);
    summary[finding] = false;  // as if a frame had shown it before the run was killed
    write_file(directory / finding / "summary.json", summary.dump());
    const Outcome outcome = run({"--resume", finding, "--steps", "4"});
    EXPECT_EQ(outcome.code, 4) << outcome.err;
    EXPECT_NE(outcome.err.find(finding), std::string::npos) << outcome.err;
    EXPECT_EQ(summary_of(directory / finding)["status"], "refuted");
  }
}

TEST_F(Runs, WithoutFramesKeepTheFinalStateAndCheckIt) {
  ASSERT_EQ(run({"scene.json", "-o", "out", "--no-frames", "--steps", "4"}).code, 0);
  EXPECT_EQ(content_of(directory / "out"),
            (std::vector<std::string>{"checkpoint", "checkpoint.older", "digests.txt", "log.txt",
                                      "scene.json", "steps.csv", "summary.json"}));
  EXPECT_EQ(summary_of(directory / "out")["intersection_free"], true);
  ASSERT_EQ(run({"--resume", "out", "--steps", "6"}).code, 0);
  EXPECT_EQ(summary_of(directory / "out")["steps"], 6);
  const Outcome verified = apart_program({"verify", "out"}, directory.path());
  EXPECT_EQ(verified.code, 2);
  EXPECT_NE(verified.err.find("frames"), std::string::npos);
}

TEST_F(Runs, NeverReplaceWhatTheyWereNotAskedTo) {
  ASSERT_EQ(run({"scene.json", "-o", "out", "--steps", "1"}).code, 0);
  write_file(directory / "out/notes.txt", "mine");
  write_file(directory / "out/frames/mine.vtu", "mine");
  const Outcome refused = run({"scene.json", "-o", "out", "--steps", "2"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--force"), std::string::npos);
  EXPECT_EQ(summary_of(directory / "out")["steps"], 1);
  EXPECT_EQ(run({"scene.json", "-o", "out", "--steps", "2", "--force"}).code, 0);
  EXPECT_EQ(summary_of(directory / "out")["steps"], 2);
  EXPECT_EQ(read_file(directory / "out/notes.txt"), "mine");
  EXPECT_EQ(read_file(directory / "out/frames/mine.vtu"), "mine");

  EXPECT_EQ(run({"scene.json", "--steps", "1"}).code, 0);
  EXPECT_EQ(run({"scene.json", "--steps", "1"}).code, 0);
  EXPECT_TRUE(fs::exists(directory / "run-scene/summary.json"));
  EXPECT_TRUE(fs::exists(directory / "run-scene-2/summary.json"));
  EXPECT_EQ(run({"scene.json", "--steps", "1", "--set", "name=../a/b"}).code, 0);
  EXPECT_TRUE(fs::exists(directory / "run-..-a-b/summary.json"));
}

TEST_F(Runs, IntoUnwritablePlacesSaySo) {
  write_file(directory / "file", "");
  for (const std::string place : {"file", "file/below", "/proc/nothing"}) {
    const Outcome outcome = run({"scene.json", "-o", place});
    EXPECT_EQ(outcome.code, 2) << place;
    EXPECT_NE(outcome.err.find(place), std::string::npos) << outcome.err;
  }
}

TEST_F(Runs, OntoAFullDiskSaySoAndLoseNothing) {
  // A limit on the size of files stands for the full disk.
  const std::string limited = "trap '' XFSZ; ulimit -f 1; exec \"$0\" run scene.json -o out";
  const Outcome outcome =
      run_program("/bin/sh", {"-c", limited + " --set output.formats=[]", APART_PROGRAM}, directory.path());
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_NE(outcome.err.find("cannot be written"), std::string::npos) << outcome.err;
  for (const std::string& file : content_of(directory / "out"))
    EXPECT_EQ(file.find(".tmp"), std::string::npos) << file;
}

TEST_F(Runs, KilledAtAnyMomentResumeToTheSameBits) {
  // Friction and a moving plane; affine stones; BDF2 with late scripts; Newmark with loads; quasi-static;
  // everything thin, with strain limits, a seam that closes and wind.
  const std::string block = R"("mesh": {"generator": "box", "size": 0.1, "cells": 2})";
  const auto text = [](const std::string& time, const std::string& bodies, const std::string& more) {
    return R"({"version": 1, "time": {)" + time +
           R"(}, "bodies": [{"type": "half_space", "name": "floor"}, )" + bodies + "], " + more + "}";
  };
  const std::string probes = R"("probes": [{"name": "load", "type": "contact", "bodies": ["a", "floor"]},
    {"name": "at", "type": "position", "body": "a"}])";
  const std::vector<std::string> scenes = {
      text(R"("dt": 0.02, "steps": 30)",
           R"({"type": "volume", "name": "a", )" + block + R"(, "transform": {"translate": [0, 0.06, 0]}},
              {"type": "half_space", "name": "press", "origin": [0, 0.2, 0], "normal": [0, -1, 0],
               "motion": {"translate": [0, "-0.25*t", 0]}})",
           R"("contact": {"friction_coefficient": 0.4}, "output": {"checkpoint_seconds": 0}, )" + probes),
      text(
          R"("dt": 0.01, "steps": 40)",
          R"({"type": "affine", "name": "a", )" + block +
              R"(, "transform": {"translate": [0, 0.06, 0]}, "array": {"counts": [1, 4, 1], "spacing": [0, 0.11, 0]}})",
          R"("contact": {"friction_coefficient": 0.3}, "output": {"every": 3, "checkpoint_steps": 7})"),
      text(R"("dt": 0.01, "steps": 40, "integrator": "bdf2")",
           R"({"type": "volume", "name": "a", )" + block + R"(, "transform": {"translate": [0, 0.06, 0]},
               "fixed": [{"where": {"box": {"min": [-1, 0.1, -1], "max": [1, 1, 1]}}, "from": 0.1, "until": 0.3,
                          "motion": {"translate": ["t", 0, 0]}}]})",
           R"("output": {"every": 4, "checkpoint_seconds": 0}, )" + probes),
      text(R"("dt": 0.005, "steps": 40, "integrator": "newmark")",
           R"({"type": "volume", "name": "a", )" + block + R"(, "transform": {"translate": [0, 0.06, 0]},
               "loads": [{"type": "body_force", "acceleration": ["30*t*t", 0, 0], "from": 0.05}]
},
              {"type": "volume", "name": "late", )" +
               block +
               R"(, "transform": {"translate": [0, 0.3, 0]}, "appears": 0.1, "velocity": [0, -3, 0]})",
           R"("output": {"checkpoint_steps": 3}, )" + probes),
      text(R"("dt": 0.02, "steps": 20, "integrator": "quasi_static")",
           R"({"type": "volume", "name": "a", )" + block + R"(, "transform": {"translate": [0, 0.051, 0]}})",
           R"("contact": {"friction_coefficient": 0.5}, "output": {"checkpoint_seconds": 0.05}, )" + probes),
      text(
          R"("dt": 0.01, "steps": 25)",
          R"({"type": "shell", "name": "a", "mesh": {"generator": "grid", "size": [0.2, 0.2], "cells": [6, 6]},
               "transform": {"translate": [0, 0.05, 0]}, "strain_limit": {"upper": 1.05},
               "loads": [{"type": "wind", "velocity": ["3*t", 0, 0]}]},
              {"type": "shell", "name": "b", "mesh": {"generator": "grid", "size": [0.2, 0.2], "cells": [3, 3]},
               "transform": {"translate": [0, 0.08, 0]}},
              {"type": "rod", "name": "rod", "material": {"radius": 0.002}, "transform": {"translate": [0, 0.1, 0]},
               "mesh": {"points": [[-0.1, 0, 0], [-0.03, 0, 0], [0.03, 0, 0], [0.1, 0, 0]],
                        "segments": [[0, 1], [1, 2], [2, 3]]}},
              {"type": "particles", "name": "grains", "radius": 0.01, "appears": 0.05,
               "mesh": {"points": [[0, 0.2, 0], [0.03, 0.2, 0.01], [0, 0.2, 0.05]]}, "velocity": [0, -2, 0]})",
          R"("contact": {"dhat": 1e-3, "thickness": 1e-3, "friction_coefficient": 0.3},
              "attachments": [{"bodies": ["a", "b"], "stitches": [[0, 0], [6, 3]], "closing": 0.1, "stiffness": 10}],
              "output": {"checkpoint_steps": 2},
              "probes": [{"name": "load", "type": "contact", "bodies": ["a", "floor"]},
                         {"name": "room", "type": "gap", "bodies": ["a", "grains"]},
                         {"name": "stretch", "type": "strain", "body": "a"}])")};
  using Clock = std::chrono::steady_clock;
  std::mt19937 random(3);
  const auto share = [&] { return double(random()) / double(std::mt19937::max()); };
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    const std::string scene = fmt::format("scene{}.json", i), whole = fmt::format("whole{}", i);
    write_file(directory / scene, scenes[i]);
    const auto begin = Clock::now();
    const Outcome outcome = run({scene, "-o", whole});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Clock::duration duration = Clock::now() - begin;
    const auto lines = unsigned(line_count(directory / whole / "steps.csv"));
    // Kills may come too early or too late, on a busy machine more of them: until three came amid steps.
    int amid = 0;
    for (int k = 0; k < 30 && amid < 3; ++k) {
      const std::string out = fmt::format("killed{}-{}", i, k);
      // When steps.csv has so many lines, and up to two steps more have passed.
      const unsigned line = random() % lines;
      const auto pause = std::chrono::duration_cast<Clock::duration>(2 * share() / lines * duration);
      std::optional<Clock::time_point> seen;
      const auto moment = [&](const std::string&) {
        if (!seen && line_count(directory / out / "steps.csv") >= line) seen = Clock::now();
        return seen && Clock::now() >= *seen + pause;
      };
      apart_program({"run", scene, "-o", out}, directory.path(), {moment, SIGKILL});
      const std::string when = fmt::format("killed {:.3f} s after line {} of steps.csv",
                                           std::chrono::duration<double>(pause).count(), line);
      amid += fs::exists(directory / out / "summary.json") &&
              summary_of(directory / out)["status"] == "running" &&
              line_count(directory / out / "steps.csv") > 2;
      if (!fs::exists(directory / out / "checkpoint") && !fs::exists(directory / out / "checkpoint.older")) {
        EXPECT_EQ(run({scene, "-o", out, "--force"}).code, 0) << "killed before it began";
      } else {
        const Outcome resumed = run({"--resume", out});
        ASSERT_EQ(resumed.code, 0) << resumed.err << when;
      }
      for (const std::string& file : content_of(directory / whole)) {
        if (file == "log.txt" || file == "summary.json" || file == "checkpoint.older" ||
            fs::is_directory(directory / whole / file))
          continue;
        EXPECT_EQ(read_file(directory / whole / file), read_file(directory / out / file))
            << file << ", " << when;
      }
    }
    EXPECT_EQ(amid, 3) << scene;
  }
}

TEST_F(Runs, ResumeFromTheOlderCheckpointIfTheNewestIsDamaged) {
  ASSERT_EQ(run({"scene.json", "-o", "whole"}).code, 0);
  for (const std::string damage : {"cut", "version", "gone"}) {
    ASSERT_EQ(run({"scene.json", "-o", damage, "--steps", "8", "--set", "output.checkpoint_steps=1"}).code,
              0);
    const fs::path newest = directory / damage / "checkpoint";
    std::string bytes = read_file(newest);
    if (damage == "version") bytes[bytes.size() - 8] ^= 4;
    if (damage == "gone")
      fs::remove(newest);
    else
      write_file(newest, damage == "cut" ? bytes.substr(0, bytes.size() / 2) : bytes);
    const Outcome outcome = run({"--resume", damage, "--steps", "12"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("checkpoint"), std::string::npos);
    EXPECT_NE(outcome.err.find("The previous checkpoint, of step"), std::string::npos) << outcome.err;
    EXPECT_EQ(read_file(directory / "whole/frames/frame_000003.vtu"),
              read_file(directory / damage / "frames/frame_000003.vtu"));
    EXPECT_EQ(read_file(directory / "whole/checkpoint"), read_file(directory / damage / "checkpoint"));
  }
}

TEST_F(Runs, ThatFoundNoSpaceGoOnToTheSameBitsWhenThereIsSome) {
  ASSERT_EQ(run({"scene.json", "-o", "whole"}).code, 0);
  ASSERT_EQ(run({"scene.json", "-o", "out", "--steps", "6", "--set", "output.checkpoint_steps=2"}).code, 0);
  const auto kept = read_file(directory / "out/checkpoint"),
             older = read_file(directory / "out/checkpoint.older");
  ASSERT_GT(kept.size(), 8192u);
  // Files may be 8 kB long: lists of steps can be written, checkpoints cannot.
  const Outcome full = run_program(
      "/bin/sh", {"-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" run --resume out", APART_PROGRAM},
      directory.path());
  EXPECT_EQ(full.code, 2) << full.out;
  EXPECT_NE(full.err.find("out/checkpoint"), std::string::npos) << full.err;
  EXPECT_NE(full.err.find("cannot be written"), std::string::npos) << full.err;
  EXPECT_EQ(read_file(directory / "out/checkpoint"), kept);
  EXPECT_EQ(read_file(directory / "out/checkpoint.older"), older);
  ASSERT_EQ(run({"--resume", "out"}).code, 0);
  for (const std::string& file : content_of(directory / "whole"))
    if (fs::is_regular_file(directory / "whole" / file) && file != "summary.json" && file != "log.txt" &&
        file != "checkpoint.older" && file != "scene.json" && file != "digests.txt") {
      EXPECT_EQ(read_file(directory / "out" / file), read_file(directory / "whole" / file)) << file;
    }
}

TEST_F(Runs, InDirectoriesThatMayNotBeWrittenToSaySoAndChangeNothing) {
  ASSERT_EQ(run({"scene.json", "-o", "out", "--steps", "2"}).code, 0);
  // Root may write everywhere; another user does what root cannot try.
  std::string as_other;
  if (::geteuid() == 0) {
    as_other = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
    fs::permissions(directory.path(), fs::perms(0755));
    if (run_program("/bin/sh", {"-c", as_other + "\"$0\" --version", APART_PROGRAM}, directory.path()).code !=
        0)
      GTEST_SKIP() << "run as root, and no other user may run the program: run the tests as a user, or build "
                      "where others may read";
  }
  for (const auto& entry : fs::recursive_directory_iterator(directory.path()))
    fs::permissions(entry.path(), fs::perms(entry.is_directory() ? 0555 : 0444));
  const std::string checkpoint = read_file(directory / "out/checkpoint"),
                    steps = read_file(directory / "out/steps.csv");
  const Outcome resumed = run_program(
      "/bin/sh", {"-c", as_other + "\"$0\" run --resume out --steps 4", APART_PROGRAM}, directory.path());
  EXPECT_EQ(resumed.code, 2) << resumed.out;
  EXPECT_NE(resumed.err.find("out/"), std::string::npos) << resumed.err;
  EXPECT_NE(resumed.err.find("cannot be written"), std::string::npos) << resumed.err;
  EXPECT_NE(resumed.err.find("ermission"), std::string::npos) << resumed.err;
  fs::permissions(directory.path(), fs::perms(0555));
  const Outcome fresh = run_program(
      "/bin/sh", {"-c", as_other + "\"$0\" run scene.json -o new", APART_PROGRAM}, directory.path());
  fs::permissions(directory.path(), fs::perms(0755));
  EXPECT_EQ(fresh.code, 2) << fresh.out;
  EXPECT_NE(fresh.err.find("new: cannot be prepared: Permission denied"), std::string::npos) << fresh.err;
  EXPECT_EQ(read_file(directory / "out/checkpoint"), checkpoint);
  EXPECT_EQ(read_file(directory / "out/steps.csv"), steps);
  for (const auto& entry : fs::recursive_directory_iterator(directory.path()))
    fs::permissions(entry.path(), fs::perms(entry.is_directory() ? 0755 : 0644));
}

TEST_F(Runs, ResumedFromDamagedDirectoriesSaySo) {
  ASSERT_EQ(run({"scene.json", "-o", "out", "--steps", "2"}).code, 0);
  const auto expect_refusal = [&](const std::string& part) {
    fs::remove(directory / "out/checkpoint.older");  // which could be used instead
    const Outcome outcome = run({"--resume", "out"});
    EXPECT_EQ(outcome.code, 2) << part;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  };
  const std::string checkpoint = read_file(directory / "out/checkpoint"),
                    steps = read_file(directory / "out/steps.csv");
  std::string damaged = checkpoint;
  damaged[damaged.size() / 2] ^= 1;
  write_file(directory / "out/checkpoint", damaged);
  expect_refusal("damaged");
  write_file(directory / "out/checkpoint", checkpoint.substr(0, 100));
  expect_refusal("checkpoint");
  std::string other_version = checkpoint;
  other_version[checkpoint.size() - 8] = 99;
  write_file(directory / "out/checkpoint", other_version);
  expect_refusal("has version 99, this program reads version 8; use the program that wrote it");
  write_file(directory / "out/checkpoint", "something else");
  expect_refusal("another kind of file");
  fs::remove(directory / "out/checkpoint");
  expect_refusal("there is no checkpoint in this folder");
  write_file(directory / "out/checkpoint", checkpoint);
  write_file(directory / "out/steps.csv", steps.substr(0, steps.size() / 2));
  expect_refusal("steps.csv");
  write_file(directory / "out/steps.csv", steps);
  std::string other = read_file(directory / "out/scene.json");
  other.replace(other.find("\"resolution\": 2"), 15, "\"resolution\": 3");
  write_file(directory / "out/scene.json", other);
  expect_refusal("another scene");
  const Outcome missing = run({"--resume", "nowhere"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("nowhere: no such directory"), std::string::npos);
}

TEST(Usage, WrongArgumentsEndWithSixtyFour) {
  const TemporaryDirectory directory;
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"fly"},
                                                       {"run"},
                                                       {"run", "slope", "--fast"},
                                                       {"run", "slope", "--steps", "many"},
                                                       {"run", "slope", "--steps", "0"},
                                                       {"run", "slope", "--threads", "-1"},
                                                       {"run", "slope", "--resume", "x"},
                                                       {"run", "--resume", "x", "--force"},
                                                       {"run", "--resume", "x", "--no-frames"},
                                                       {"run", "slope", "cube"},
                                                       {"check"},
                                                       {"verify"},
                                                       {"render", "x", "--size", "12"},
                                                       {"render", "x", "--size", "0x10"}};
  for (const auto& arguments : wrong) {
    const Outcome outcome = apart_program(arguments, directory.path());
    EXPECT_EQ(outcome.code, 64) << ::testing::PrintToString(arguments);
    EXPECT_FALSE(outcome.err.empty()) << ::testing::PrintToString(arguments);
  }
  EXPECT_EQ(content_of(directory.path()), std::vector<std::string>{});
}

TEST(Usage, HelpIsCompleteAndShort) {
  const TemporaryDirectory directory;
  for (const std::string command : {"run", "check", "verify", "examples", "schema", "render"}) {
    const Outcome outcome = apart_program({command, "--help"}, directory.path());
    EXPECT_EQ(outcome.code, 0);
    EXPECT_LT(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 30) << outcome.out;
    EXPECT_NE(outcome.out.find("Exit codes"), std::string::npos) << outcome.out;
  }
  EXPECT_EQ(apart_program({"--version"}, directory.path()).code, 0);
}

TEST(Usage, ExamplesAreListedDefaultFirstAndCanBeWritten) {
  const TemporaryDirectory directory;
  const Outcome list = apart_program({"examples"}, directory.path());
  EXPECT_EQ(list.code, 0);
  EXPECT_TRUE(list.out.starts_with("bowl-of-shapes ")) << list.out;
  std::istringstream lines(list.out);
  std::string line;
  std::size_t count = 0;
  for (; std::getline(lines, line) && !line.empty(); ++count) {
    const std::string name = line.substr(0, line.find(' '));
    EXPECT_TRUE(fs::exists(fs::path(APART_SOURCE_DIR) / "examples" / (name + ".json"))) << line;
    EXPECT_GT(line.size(), name.size() + 10) << "no summary: " << line;
  }
  EXPECT_GE(count, 12u);
  std::getline(lines, line);
  EXPECT_NE(line.find("--size"), std::string::npos) << line;
  for (count = 0; std::getline(lines, line) && !line.empty(); ++count) {
    const std::string name = line.substr(0, line.find(' '));
    EXPECT_EQ(apart_program({"examples", name, "--size", "3", "-o", name + ".json"}, directory.path()).code,
              0)
        << line;
  }
  EXPECT_GE(count, 5u);
  EXPECT_EQ(apart_program({"examples", "slope", "-o", "slope.json"}, directory.path()).code, 0);
  EXPECT_EQ(read_file(directory / "slope.json"),
            read_file(fs::path(APART_SOURCE_DIR) / "examples/slope.json"));
  const Outcome unknown = apart_program({"examples", "slop"}, directory.path());
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("did you mean 'slope'?"), std::string::npos);
}

TEST(Usage, SchemaIsPrintedAsJson) {
  const TemporaryDirectory directory;
  const Outcome outcome = apart_program({"schema"}, directory.path());
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(nlohmann::json::parse(outcome.out).contains("definitions"));
}

TEST(Check, NamesIntersectionsAndWritesThemAsAMesh) {
  const TemporaryDirectory directory;
  write_file(directory / "bad.json", R"({"version": 1, "time": {"steps": 1}, "bodies": [
      {"type": "volume", "name": "left", "mesh": {"generator": "box", "cells": 1}},
      {"type": "volume", "name": "right", "mesh": {"generator": "box", "cells": 1}, "transform": {"translate": [0.9, 0.1, 0.2]}}]})");
  const Outcome outcome = apart_program({"check", "bad.json", "-o", "found.vtu"}, directory.path());
  EXPECT_EQ(outcome.code, 2);
  for (const char* part : {"left", "right", "intersects", "near (", "found.vtu"})
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part << "\n" << outcome.err;
  EXPECT_NE(read_file(directory / "found.vtu").find("UnstructuredGrid"), std::string::npos);
  EXPECT_EQ(apart_program({"check", "bad.json", "--set", "bodies[right].transform.translate=[2, 0, 0]"},
                          directory.path())
                .code,
            0);
}

TEST(Render, DrawsAFrame) {
  const TemporaryDirectory directory;
  ASSERT_EQ(apart_program({"run", "five-cubes", "-o", "out", "--steps", "1"}, directory.path()).code, 0);
  const Outcome outcome =
      apart_program({"render", "out", "--frame", "0", "--size", "64x48", "-o", "p.png"}, directory.path());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(read_file(directory / "p.png").starts_with("\x89PNG"));
  const Outcome beyond = apart_program({"render", "out", "--frame", "9"}, directory.path());
  EXPECT_EQ(beyond.code, 2);
  EXPECT_NE(beyond.err.find("frames 0 to 1"), std::string::npos) << beyond.err;
  EXPECT_EQ(apart_program({"render", "nothing"}, directory.path()).code, 2);
}

}  // namespace
}  // namespace apart::test
