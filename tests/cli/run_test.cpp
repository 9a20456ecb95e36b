// What the program promises about runs: the run directory, what is written when, full disks, the same bits.
#include "runs.hpp"

#include <unistd.h>
#include <fstream>
#include <sstream>

namespace apart::test {
namespace {

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
                                                 Scene{"bowl-of-shapes", "9", "frame_000004.vtu"}}) {
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

}  // namespace
}  // namespace apart::test
