// Runs that were interrupted, killed or ran out of space go on to the same bits, or say why they cannot.
#include "runs.hpp"

#include <chrono>
#include <fstream>
#include <optional>
#include <random>

namespace apart::test {
namespace {

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

}  // namespace
}  // namespace apart::test
