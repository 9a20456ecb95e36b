// apart-mpi sweep: one job does a study as apart sweep does, whatever becomes of single runs and processes.
#include <gtest/gtest.h>
#include <cluster/cluster.hpp>

#include <signal.h>

#include <filesystem>
#include <sstream>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

class TeamSweep : public Cluster {
 protected:
  void SetUp() override {
    Cluster::SetUp();
    write_file(directory / "scene.json",
               R"({"version": 1, "time": {"dt": 0.01, "steps": 3}, "gravity": [0, -9.81, 0], "bodies": [
      {"type": "rigid", "name": "box", "mesh": {"generator": "box", "cells": 1}, "velocity": [1, 0, 0]},
      {"type": "half_space", "name": "floor", "origin": [0, -2, 0]}],
      "probes": [{"type": "position", "name": "centre", "body": "box", "where": {"all": true}}]})");
    where_ = fs::canonical(directory.path());
  }
  /// Runs of so many steps; the box floats.
  void write_study(int steps, const std::string& gravities) {
    write_file(directory / "study.json", R"({"scene": "scene.json", "frames": false, "steps": )" +
                                             std::to_string(steps) + R"(,
      "parameters": {"gravity[1]": {"values": [)" +
                                             gravities + R"(]}},
      "results": {"low": {"column": "centre.y", "take": "last"}}})");
  }
  /// The table without the columns of times, which differ.
  std::string table(const std::string& folder) const {
    std::istringstream text(bytes_of(directory / folder / "results.csv"));
    std::string result, line;
    std::size_t cpu = 0;
    for (bool first = true; std::getline(text, line); first = false) {
      std::istringstream cells(line);
      std::string cell;
      for (std::size_t i = 0; std::getline(cells, cell, ','); ++i) {
        if (first && cell == "cpu_seconds") cpu = i;
        if (i != cpu || cpu == 0) result += cell + ',';
      }
      result += '\n';
    }
    return result;
  }
  fs::path where_;
};

TEST_F(TeamSweep, GivesTheTablesOfOneMachine) {
  write_study(3, "-1, -2, -400, -3, 1e999, -4");
  EXPECT_EQ(mpi(2, {"sweep", "study.json"}).code, 2);
  write_study(3, "-1, -2, -400, -3, -4");
  const Outcome alone = apart({"sweep", "study.json", "-o", "alone"});
  ASSERT_EQ(alone.code, 0) << alone.err;
  for (const int processes : {1, 3}) {
    const std::string folder = "of" + std::to_string(processes);
    const Outcome outcome = mpi(processes, {"sweep", "study.json", "-o", folder});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("5 of 5 runs finished"), std::string::npos) << outcome.out;
    EXPECT_EQ(table(folder), table("alone"));
    for (const char* file : {"results.sqlite", "report.html"})
      EXPECT_TRUE(fs::exists(directory / folder / file)) << file;
  }
}

TEST_F(TeamSweep, ARunThatIsKilledIsBegunAgainAndOthersAreNotHarmed) {
  write_study(2000, "0, -0.1, -0.2, -0.3");
  bool killed = false;
  const Outcome outcome =
      mpi(3, {"sweep", "study.json", "-o", "out"}, {.when = [&](const std::string&) {
            if (!killed && line_count(directory / "out/runs/000001/steps.csv") > 3)
              if (const pid_t pid = process_in(where_, [](const std::string& command, const std::string&) {
                    return command.find("runs/000001") != std::string::npos;
                  }))
                killed = ::kill(pid, SIGKILL) == 0;
            return false;
          }});
  ASSERT_TRUE(killed);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("run 1: ended by signal 9"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("begun again"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("4 of 4 runs finished"), std::string::npos) << outcome.out;
  EXPECT_EQ(line_count(directory / "out/runs/000001/steps.csv"), 2001u);
}

TEST_F(TeamSweep, AProcessThatDiesIsNamedAndItsRunIsGivenToAnother) {
  write_study(2000, "0, -0.1, -0.2, -0.3, -0.4");
  bool killed = false;
  const Outcome outcome = mpi(3, {"sweep", "study.json", "-o", "out", "--silence", "3"},
                              {.when =
                                   [&](const std::string&) {
                                     if (!killed && line_count(directory / "out/runs/000001/steps.csv") > 3)
                                       if (const pid_t pid = process_of(1, where_))
                                         killed = ::kill(pid, SIGKILL) == 0;
                                     return false;
                                   }},
                              {"--enable-recovery"});
  ASSERT_TRUE(killed);
  EXPECT_NE(outcome.err.find("process 1 of 3 has not answered"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("5 of 5 runs finished"), std::string::npos) << outcome.out << outcome.err;
  for (const char* run : {"000000", "000001", "000002", "000003", "000004"})
    EXPECT_EQ(line_count(directory / "out/runs" / run / "steps.csv"), 2001u) << run;
}

TEST_F(TeamSweep, AJobThatIsKilledGoesOnWhereItStopped) {
  write_study(3000, "0, -0.1");
  const Outcome killed = mpi(2, {"sweep", "study.json", "-o", "out"}, {.when = [&](const std::string&) {
                               if (line_count(directory / "out/runs/000001/steps.csv") <= 3) return false;
                               const pid_t pid = process_of(0, where_);
                               if (pid != 0) ::kill(pid, SIGKILL);
                               return false;
                             }});
  EXPECT_NE(killed.code, 0);
  EXPECT_NE(killed.err.find("rank 0"), std::string::npos) << killed.err;
  const Outcome again = mpi(2, {"sweep", "study.json", "-o", "out"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("2 of 2 runs finished"), std::string::npos) << again.out << again.err;
  EXPECT_EQ(line_count(directory / "out/runs/000001/steps.csv"), 3001u);
}

TEST_F(TeamSweep, WhatIsWrongIsSaidOnce) {
  const Outcome missing = mpi(2, {"sweep", "nothing.json"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("nothing.json"), std::string::npos) << missing.err;
  EXPECT_EQ(missing.err.find("process 1 of 2"), std::string::npos) << missing.err;
  EXPECT_NE(mpi(2, {"sweep", "study.json", "--jobs", "0"}).code, 0);
}

}  // namespace
}  // namespace apart::test
