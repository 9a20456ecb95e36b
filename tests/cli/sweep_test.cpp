// Studies and plots by the program.
#include <apart/io/directory_lock.hpp>

#include <gtest/gtest.h>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* scene =
    R"({"version": 1, "time": {"dt": 0.01, "steps": 3}, "gravity": [0, -9.81, 0], "bodies": [
  {"type": "rigid", "name": "box", "mesh": {"generator": "box", "cells": 1}, "velocity": [1, 0, 0]},
  {"type": "half_space", "name": "floor", "origin": [0, -2, 0]}],
  "probes": [{"type": "position", "name": "centre", "body": "box", "where": {"all": true}}]})";

constexpr const char* study = R"({"scene": "scene.json", "frames": false,
  "parameters": {"gravity[1]": {"values": [-1, -2, -400]}},
  "results": {"low": {"column": "centre.y", "take": "last"}}})";

class Sweep : public testing::Test {
 protected:
  Sweep() {
    write_file(directory / "scene.json", scene);
    write_file(directory / "study.json", study);
  }
  Outcome apart(const std::vector<std::string>& arguments) {
    return run_program(APART_PROGRAM, arguments, directory.path());
  }
  std::vector<std::string> rows(const fs::path& csv) {
    std::vector<std::string> lines;
    std::istringstream text(read_file(csv));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  TemporaryDirectory directory;
};

TEST_F(Sweep, EveryRunHasARowAndNothingIsRunTwice) {
  const Outcome first = apart({"sweep", "study.json"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out.find("3 of 3 runs finished"), std::string::npos) << first.out << first.err;
  const auto lines = rows(directory / "study-study/results.csv");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(lines[1].starts_with("0,finished,,-1,3,")) << lines[1];
  // Implicit Euler falls by g dt² (1 + 2 + 3) in three steps.
  EXPECT_NEAR(std::stod(lines[2].substr(lines[2].rfind(',') + 1)), -2 * 1e-4 * 6, 1e-9) << lines[2];
  const auto when = fs::last_write_time(directory / "study-study/runs/000001/steps.csv");
  EXPECT_EQ(apart({"sweep", "study.json"}).code, 0);
  EXPECT_EQ(fs::last_write_time(directory / "study-study/runs/000001/steps.csv"), when);
}

TEST_F(Sweep, RunsThatFailAreRecordedWithTheirReason) {
  write_file(directory / "study.json", R"({"scene": "scene.json", "frames": false,
    "parameters": {"bodies[floor].origin": {"values": [[0, -2, 0], [0, 0, 0]]}}})");
  const Outcome outcome = apart({"sweep", "study.json", "-o", "out", "--jobs", "1"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("1 of 2 runs finished, 1 not"), std::string::npos) << outcome.out;
  const auto lines = rows(directory / "out/results.csv");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[2].starts_with("1,refused,")) << lines[2];
  EXPECT_NE(lines[2].find("'box'"), std::string::npos) << lines[2];
}

TEST_F(Sweep, ReasonsAreWholeSentences) {
  write_file(directory / "study.json", R"({"scene": "five-cubes", "frames": false, "steps": 1,
    "parameters": {"solver.max_iterations": {"values": [1]}}})");
  const Outcome outcome = apart({"sweep", "study.json", "-o", "out"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = rows(directory / "out/results.csv");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[1].find("0,failed,\"step 1 (t = "), std::string::npos) << lines[1];
}

TEST_F(Sweep, AnInterruptedStudyGoesOnWhereItStopped) {
  write_file(directory / "study.json", R"({"scene": "scene.json", "frames": false, "steps": 20000,
    "parameters": {"gravity[1]": {"values": [0]}}})");
  const auto started = [&](const std::string&) {
    return line_count(directory / "out/runs/000000/steps.csv") > 3;
  };
  const Outcome cut =
      run_program(APART_PROGRAM, {"sweep", "study.json", "-o", "out"}, directory.path(), {started, SIGTERM});
  EXPECT_EQ(cut.code, 128 + SIGTERM) << cut.err;
  EXPECT_FALSE(fs::exists(directory / "out/runs/000000.json"));
  const std::size_t done = line_count(directory / "out/runs/000000/steps.csv");
  EXPECT_GT(done, 3u);
  write_file(directory / "out/runs/000000.json", R"({"status": "finished"})");  // what is done is believed
  EXPECT_EQ(apart({"sweep", "study.json", "-o", "out"}).code, 0);
  EXPECT_EQ(line_count(directory / "out/runs/000000/steps.csv"), done);
}

TEST_F(Sweep, AnInterruptedRunGoesOnFromItsCheckpointToTheSameNumbers) {
  write_file(directory / "study.json", R"({"scene": "scene.json", "frames": false, "steps": 4000,
    "parameters": {"gravity[1]": {"values": [-0.001]}}})");
  const auto started = [&](const std::string&) {
    return line_count(directory / "cut/runs/000000/steps.csv") > 3;
  };
  const Outcome cut =
      run_program(APART_PROGRAM, {"sweep", "study.json", "-o", "cut"}, directory.path(), {started, SIGINT});
  ASSERT_EQ(cut.code, 128 + SIGINT) << cut.err;
  const std::size_t before = line_count(directory / "cut/runs/000000/steps.csv");
  ASSERT_LT(before, 4001u);
  ASSERT_TRUE(fs::exists(directory / "cut/runs/000000/checkpoint"));
  EXPECT_EQ(apart({"sweep", "study.json", "-o", "cut"}).code, 0);
  EXPECT_EQ(apart({"sweep", "study.json", "-o", "whole"}).code, 0);
  EXPECT_EQ(line_count(directory / "cut/runs/000000/steps.csv"), 4001u);
  EXPECT_EQ(read_file(directory / "cut/runs/000000/probes.csv"),
            read_file(directory / "whole/runs/000000/probes.csv"));
}

/// The lines of a table from the second to the last that is wanted; those of a run that goes on stay.
std::string first_lines(const fs::path& table, std::size_t count) {
  std::istringstream text(read_file(table));
  std::string lines, line;
  for (std::size_t i = 0; i < count && std::getline(text, line); ++i) lines += line + "\n";
  return lines;
}

TEST_F(Sweep, KilledAndStartedAgainAtOnceRunsNothingTwiceAndLosesNothing) {
  write_file(directory / "study.json", R"({"scene": "scene.json", "frames": false, "steps": 3000,
    "parameters": {"gravity[1]": {"values": [-0.001, -0.002, -0.0015]}}})");
  const fs::path first = directory / "cut/runs/000000/steps.csv",
                 second = directory / "cut/runs/000001/steps.csv";
  std::string begun;
  const auto in_the_second = [&](const std::string&) {
    if (line_count(second) < 100) return false;
    begun = first_lines(second, 20);
    return true;
  };
  const Outcome killed = run_program(APART_PROGRAM, {"sweep", "study.json", "-o", "cut", "--jobs", "1"},
                                     directory.path(), {in_the_second, SIGKILL});
  ASSERT_EQ(killed.code, 128 + SIGKILL);
  ASSERT_FALSE(fs::exists(directory / "cut/runs/000001.json"));
  const auto done = fs::last_write_time(first);
  // Its second run may still be keeping its state, and have the directory locked.
  const Outcome again = apart({"sweep", "study.json", "-o", "cut"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("3 of 3 runs finished:"), std::string::npos) << again.out << again.err;
  EXPECT_EQ(fs::last_write_time(first), done) << "finished before";
  EXPECT_EQ(first_lines(second, 20), begun) << "goes on, with the times that its first steps took";
  ASSERT_EQ(apart({"sweep", "study.json", "-o", "whole"}).code, 0);
  for (const std::string run : {"000000", "000001", "000002"})
    EXPECT_EQ(read_file(directory / "cut/runs" / run / "probes.csv"),
              read_file(directory / "whole/runs" / run / "probes.csv"));
}

TEST_F(Sweep, ARunThatAnotherProcessIsWritingIsWaitedFor) {
  ASSERT_EQ(apart({"sweep", "study.json", "-o", "out"}).code, 0);
  fs::remove(directory / "out/runs/000001.json");
  std::optional<DirectoryLock> other(directory / "out/runs/000001");
  // The lock is released when the sweep says that it waits.
  std::thread release([&] {
    while (read_file(directory / "said").find("run 1: waiting") == std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(fs::exists(directory / "out/runs/000001.json"));
    other.reset();
  });
  write_file(directory / "said", "");
  const Outcome outcome = run_program(
      "/bin/sh", {"-c", "exec \"$0\" sweep study.json -o out 2>said", APART_PROGRAM}, directory.path());
  release.join();
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("3 of 3 runs finished:"), std::string::npos) << outcome.out;
}

TEST_F(Sweep, RunsThatFindNoSpaceAreRunAgainWhenThereIsSome) {
  // A limit on the size of files stands for the full disk: tables can be written, the state of a run cannot.
  write_file(directory / "study.json", R"({"scene": "scene.json", "frames": false,
    "parameters": {"gravity[1]": {"values": [-1, -2]}}})");
  const Outcome full = run_program(
      "/bin/sh",
      {"-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" sweep study.json -o out --jobs 1", APART_PROGRAM},
      directory.path());
  EXPECT_NE(full.code, 0) << full.out;
  EXPECT_NE(full.err.find("2 runs stopped from outside, first run 0: "), std::string::npos) << full.err;
  EXPECT_NE(full.err.find("cannot be written"), std::string::npos) << full.err;
  EXPECT_NE(full.err.find("The same command runs what is not done"), std::string::npos) << full.err;
  const Outcome again = apart({"sweep", "study.json", "-o", "out"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("2 of 2 runs finished:"), std::string::npos) << again.out << again.err;
}

TEST_F(Sweep, OnADiskThatIsFullForAllNotEveryRunIsTried) {
  write_file(directory / "study.json", R"({"scene": "scene.json", "frames": false,
    "parameters": {"gravity[1]": {"from": -1, "to": -2, "count": 40}}})");
  const Outcome full = run_program(
      "/bin/sh",
      {"-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" sweep study.json -o out --jobs 1", APART_PROGRAM},
      directory.path());
  EXPECT_NE(full.err.find("3 runs stopped"), std::string::npos) << full.err;
  EXPECT_FALSE(fs::exists(directory / "out/runs/000003"));
}

TEST_F(Sweep, RunsThatAreKilledAreRecordedAndRunAgain) {
  write_file(directory / "study.json", R"({"scene": "scene.json", "frames": false, "steps": 1500,
    "parameters": {"gravity[1]": {"values": [-0.001]}}})");
  // As the system does when memory is short. The only child of the sweep is the run.
  const std::string kill =
      "\"$0\" sweep study.json -o out --jobs 1 & sweep=$!; "
      "until [ -e out/runs/000000/steps.csv ]; do sleep 0.01; done; "
      "for stat in /proc/[0-9]*/stat; do read -r pid name state parent rest <$stat 2>/dev/null || continue; "
      "[ \"$parent\" = $sweep ] && kill -KILL $pid; done; wait $sweep";
  const Outcome killed = run_program("/bin/sh", {"-c", kill, APART_PROGRAM}, directory.path());
  EXPECT_EQ(killed.code, 3) << killed.out << killed.err;
  EXPECT_NE(killed.err.find("1 run stopped from outside, first run 0: ended by signal 9"), std::string::npos)
      << killed.err;
  const auto lines = rows(directory / "out/results.csv");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[1].starts_with("0,stopped,")) << lines[1];
  const Outcome again = apart({"sweep", "study.json", "-o", "out"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(line_count(directory / "out/runs/000000/steps.csv"), 1501u);
}

TEST_F(Sweep, TheReportShowsTheLastFrameOfEachRun) {
  write_file(directory / "study.json",
             R"({"scene": "scene.json", "parameters": {"gravity[1]": {"values": [-1, -2]}}})");
  ASSERT_EQ(apart({"sweep", "study.json", "-o", "out"}).code, 0);
  const std::string page = read_file(directory / "out/report.html");
  for (const std::string run : {"000000", "000001"}) {
    EXPECT_NE(page.find("<img src=\"runs/" + run + ".png\""), std::string::npos) << page;
    EXPECT_TRUE(read_file(directory / "out/runs" / (run + ".png")).starts_with("\x89PNG"));
  }
  const auto when = fs::last_write_time(directory / "out/runs/000001.png");
  EXPECT_EQ(apart({"sweep", "study.json", "-o", "out"}).code, 0);
  EXPECT_EQ(fs::last_write_time(directory / "out/runs/000001.png"), when) << "is drawn once";
}

TEST_F(Sweep, ATaskOfAJobArrayDoesItsRunAlone) {
  ASSERT_EQ(apart({"sweep", "study.json", "-o", "out", "--slurm", "job.sh"}).code, 0);
  const Outcome task = run_program("/bin/sh", {"-c", "SLURM_ARRAY_TASK_ID=1 sh job.sh"}, directory.path());
  EXPECT_EQ(task.code, 0) << task.err;
  EXPECT_TRUE(fs::exists(directory / "out/runs/000001.json"));
  EXPECT_FALSE(fs::exists(directory / "out/runs/000000.json"));
  EXPECT_FALSE(fs::exists(directory / "out/results.csv"));
  EXPECT_EQ(apart({"sweep", "study.json", "-o", "out", "--collect"}).code, 0);
  EXPECT_EQ(rows(directory / "out/results.csv").size(), 2u);
}

TEST_F(Sweep, TasksOfAJobArrayMayBeginAtTheSameTime) {
  write_file(directory / "study.json", R"({"scene": "scene.json", "frames": false,
    "parameters": {"gravity[1]": {"from": -1, "to": -2, "count": 8}}})");
  const std::string all =
      "for task in 0 1 2 3 4 5 6 7; do \"$0\" sweep study.json -o out --only $task & tasks=\"$tasks $!\"; "
      "done; "
      "for task in $tasks; do wait $task || exit; done";
  const Outcome outcome = run_program("/bin/sh", {"-c", all, APART_PROGRAM}, directory.path());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Outcome collected = apart({"sweep", "study.json", "-o", "out", "--collect"});
  EXPECT_NE(collected.out.find("8 of 8 runs finished:"), std::string::npos) << collected.out;
}

TEST_F(Sweep, ASecondSweepOfAFolderIsRefused) {
  const DirectoryLock other((fs::create_directories(directory / "out"), directory / "out"));
  const Outcome outcome = apart({"sweep", "study.json", "-o", "out"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("out: another process is writing"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(directory / "out/runs"));
}

TEST_F(Sweep, TheScriptForSlurmWorksWithoutIt) {
  EXPECT_EQ(apart({"sweep", "study.json", "-o", "out", "--slurm", "job.sh"}).code, 0);
  EXPECT_NE(read_file(directory / "job.sh").find("#SBATCH --array=0-2"), std::string::npos);
  const Outcome outcome = run_program("/bin/sh", {"job.sh"}, directory.path());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(rows(directory / "out/results.csv").size(), 4u);
}

TEST_F(Sweep, BadStudiesAndOptionsAreRefused) {
  EXPECT_EQ(apart({"sweep", "none.json"}).code, 2);
  EXPECT_EQ(apart({"sweep", "study.json", "--only", "3"}).code, 2);
  write_file(directory / "typing.json",
             R"({"scene": "scene.json", "parameters": {"time.dt": {"values": [0.01]}},
                 "results": {"deep": {"column": "centre.Y", "take": "min"}}})");
  const Outcome typing = apart({"sweep", "typing.json"});
  EXPECT_EQ(typing.code, 2);
  EXPECT_NE(typing.err.find("results.deep.column"), std::string::npos) << typing.err;
  EXPECT_NE(typing.err.find("did you mean 'centre.y'?"), std::string::npos) << typing.err;
  fs::create_directories(directory / "other");
  write_file(directory / "other/file", "");
  const Outcome full = apart({"sweep", "study.json", "-o", "other"});
  EXPECT_EQ(full.code, 2);
  EXPECT_NE(full.err.find("choose another folder"), std::string::npos) << full.err;
}

TEST_F(Sweep, ColumnsOfRunsArePlotted) {
  ASSERT_EQ(apart({"run", "scene.json", "-o", "run", "--no-frames"}).code, 0);
  for (const char* file : {"a.svg", "a.png", "a.html"}) {
    const Outcome outcome = apart({"plot", "run", "run", "-y", "centre.y", "-y", "contacts", "-o", file});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_GT(fs::file_size(directory / file), 500u) << file;
  }
  for (const char* label : {"time [s]", "centre.y [m]", ">contacts<"})
    EXPECT_NE(read_file(directory / "a.html").find(label), std::string::npos) << label;
  EXPECT_EQ(apart({"plot", "run"}).out, "plot.svg\n");
  const auto error = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = apart(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    return outcome.err;
  };
  EXPECT_NE(error({"plot", "run", "-y", "centre.Y"}).find("did you mean 'centre.y'?"), std::string::npos);
  EXPECT_NE(error({"plot", "run", "-y", "temperature"}).find("its columns are step, time"),
            std::string::npos);
  EXPECT_NE(error({"plot", "none"}).find("no such run directory"), std::string::npos);
  EXPECT_NE(error({"plot", "run", "-o", "a.pdf"}).find("must end in .svg, .png or .html"), std::string::npos);
  EXPECT_NE(error({"plot", "run", "-o", "a.svg"}).find("--force"), std::string::npos);
  EXPECT_NE(error({"plot", "run", "-y", "contacts", "--log-y"}).find("no finite and positive number"),
            std::string::npos);
}

}  // namespace
}  // namespace apart::test
