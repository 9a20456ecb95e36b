// Studies and plots by the program.
#include <gtest/gtest.h>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include <filesystem>

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
