// apart-mpi: what several processes compute is what apart computes, to the solver's tolerance; the same bits
// each time; and a job that loses a process says so and can be continued.
#include <gtest/gtest.h>
#include <apart/io/file_reader.hpp>
#include <apart/io/run_frames.hpp>
#include <cluster/cluster.hpp>

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <regex>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

class TeamRuns : public Cluster {
 protected:
  Matrix3X last_points(const std::string& run) const {
    return read_frame(list_frames(directory / run).back()).mesh.points;
  }
  /// The largest distance of a point of one run from where it is in the other [m].
  double difference(const std::string& a, const std::string& b) const {
    const Matrix3X p = last_points(a), q = last_points(b);
    if (p.cols() != q.cols()) return infinity;
    return (p - q).colwise().norm().maxCoeff();
  }
  static std::vector<std::string> run(const std::string& scene, int steps, const std::string& to) {
    return {"run", scene, "--steps", std::to_string(steps), "-o", to, "-q", "--set", "solver.tolerance=1e-7"};
  }
  void run_large_system_twice(const std::string& solver, int processes) const;
  void solve_by_each(const std::vector<std::string>& solvers, int steps) const;
  Outcome factorise_with(const std::string& options) const;
};

/// Of the mesh generator, with n cells of the grid along each side.
int elements_of_box(int n) {
  return 5 * n * n * n;
}

struct Case {
  const char* scene;
  int steps;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.scene;
}

class MixedScenes : public TeamRuns, public ::testing::WithParamInterface<Case> {
 protected:
  void compare_with_one_process(const std::vector<int>& numbers_of_processes) const;
};

// A cloth with a limit of its stretch, rods and balls, stiff and soft bodies, rigid bodies with joints, rigid
// bodies with friction; slow: volumes, rods, curved elements. Rods buckle, to one side or the other as the
// last bits say (all-in in its second step, hairs in its third): another ordering of one process's linear
// systems makes the same difference there, of some tenths of a millimetre, so that no such step is compared.
std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.scene;
  std::erase(name, '-');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Examples, MixedScenes,
                         ::testing::Values(Case{"cloth-on-sphere", 2}, Case{"net-and-balls", 4},
                                           Case{"affine-boxes-on-soft-block", 5}, Case{"four-bar-linkage", 5},
                                           Case{"rigid-card-house", 3}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(SlowExamples, MixedScenes,
                         ::testing::Values(Case{"twisted-mat", 3}, Case{"hairs", 2}, Case{"curved-balls", 2}),
                         name_of);

void MixedScenes::compare_with_one_process(const std::vector<int>& numbers_of_processes) const {
  const auto& [scene, steps] = GetParam();
  const Outcome alone = apart(run(scene, steps, "alone"));
  ASSERT_EQ(alone.code, 0) << alone.err;
  for (const int processes : numbers_of_processes) {
    const std::string name = "of" + std::to_string(processes);
    const Outcome outcome = mpi(processes, run(scene, steps, name));
    ASSERT_EQ(outcome.code, 0) << processes << outcome.out << outcome.err;
    EXPECT_LT(difference("alone", name), 1e-6) << processes;
    EXPECT_EQ(line_count(directory / name / "steps.csv"), line_count(directory / "alone" / "steps.csv"));
  }
  const Outcome verified = apart({"verify", "of3"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

TEST_P(MixedScenes, OfThreeProcessesEndWhereOneEndsAndAreCertified) {
  compare_with_one_process({3});
}
TEST_P(MixedScenes, SlowEndWhereOneProcessEndsAndAreCertified) {
  compare_with_one_process({1, 2, 3, 4});
}

TEST_F(TeamRuns, TheSameNumberOfProcessesGivesTheSameBitsResumedOrNot) {
  const Outcome once = mpi(3, run("all-in", 3, "a"));
  ASSERT_EQ(once.code, 0) << once.err;
  const Outcome begun = mpi(3, run("all-in", 2, "b"));
  ASSERT_EQ(begun.code, 0) << begun.err;
  const Outcome resumed = mpi(3, {"run", "--resume", "b", "--steps", "3", "-q"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(bytes_of(directory / "a" / "checkpoint"), bytes_of(directory / "b" / "checkpoint"));
  EXPECT_EQ(bytes_of(directory / "a" / "steps.csv"), bytes_of(directory / "b" / "steps.csv"));
}

void TeamRuns::run_large_system_twice(const std::string& solver, int processes) const {
  for (const std::string name : {"a", "b"}) {
    std::vector<std::string> arguments = run("cloth-on-sphere", 1, name + solver);
    arguments.insert(arguments.end(), {"--linear-solver", solver, "--gather-up-to", "0"});
    const Outcome outcome = mpi(processes, arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  EXPECT_EQ(bytes_of(directory / ("a" + solver) / "checkpoint"),
            bytes_of(directory / ("b" + solver) / "checkpoint"))
      << solver;
}

// The way of large systems: multigrid, and where that fails the factors of each process's part.
TEST_F(TeamRuns, LargeSystemsAreSolvedWithTheSameBitsEachTime) {
  run_large_system_twice("auto", 2);
}
TEST_F(TeamRuns, SlowLargeSystemsAreSolvedWithTheSameBitsByThreeProcesses) {
  for (const std::string solver : {"auto", "schwarz"}) run_large_system_twice(solver, 3);
}

TEST_F(TeamRuns, MeshesChangeAsWithOneProcess) {
  const Outcome alone = apart(run("remeshed-impact", 3, "alone"));
  ASSERT_EQ(alone.code, 0) << alone.err;
  for (const int processes : {2, 3}) {
    const std::string name = "of" + std::to_string(processes);
    const Outcome outcome = mpi(processes, run("remeshed-impact", 3, name));
    ASSERT_EQ(outcome.code, 0) << processes << outcome.out << outcome.err;
    EXPECT_LT(difference("alone", name), 1e-9) << processes;
  }
  const Frame last = read_frame(list_frames(directory / "of2").back());
  EXPECT_GT(last.topology, 0) << "no mesh has changed";
  const Outcome resumed = mpi(3, {"run", "--resume", "of2", "--steps", "4", "-q"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
}

TEST_F(TeamRuns, FramesComeInAPieceForEachProcessIfAskedFor) {
  std::vector<std::string> arguments = run("cloth-on-sphere", 1, "pieces");
  arguments.insert(arguments.end(), {"--set", "output.formats=[\"pvtu\"]"});
  const Outcome outcome = mpi(2, arguments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  Eigen::Index cells = 0;
  for (const std::string piece : {"0", "1"})
    cells += read_frame(directory / "pieces/frames/frame_000001" / (piece + ".vtu")).mesh.faces.cols();
  EXPECT_EQ(cells, read_frame(directory / "pieces/frames/frame_000001.vtu").mesh.faces.cols());
  EXPECT_TRUE(fs::exists(directory / "pieces/frames/frame_000001.pvtu"));
}

// Cells, volume, points and fields of the pieces are those of the whole frame.
TEST_F(TeamRuns, SlowFramesInPiecesOpenInParaView) {
  if (std::system("command -v pvpython >/dev/null") != 0)
    GTEST_SKIP() << "needs ParaView: apt-get install python3-paraview";
  std::vector<std::string> arguments = run("curved-balls", 1, "pieces");
  arguments.insert(arguments.end(), {"--set", "output.formats=[\"pvtu\"]"});
  const Outcome outcome = mpi(3, arguments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Outcome seen = run_program("/usr/bin/env",
                                   {"pvpython", APART_SOURCE_DIR "/tests/cluster/compare_frames.py",
                                    "pieces/frames/frame_000001.vtu", "pieces/frames/frame_000001.pvtu"},
                                   directory.path());
  EXPECT_EQ(seen.code, 0) << seen.out << seen.err;
  EXPECT_NE(seen.out.find("the same"), std::string::npos) << seen.out << seen.err;
}

TEST_F(TeamRuns, AbsentBodiesDoNotCountWhenElementsAreDivided) {
  std::ofstream(directory / "two.json") << R"({"version": 1, "time": {"dt": 0.01, "steps": 2}, "bodies": [
    {"type": "volume", "mesh": {"generator": "box", "size": 1, "cells": 8},
     "material": {"type": "neo_hookean", "E": 1e6, "nu": 0.4, "rho": 1000}},
    {"type": "volume", "mesh": {"generator": "box", "size": 1, "cells": 8}, "appears": 0.015,
     "transform": {"translate": [2, 0, 0]},
     "material": {"type": "neo_hookean", "E": 1e6, "nu": 0.4, "rho": 1000}}]})";
  for (const int steps : {1, 2}) {
    const Outcome outcome = mpi(2, {"run", "two.json", "-o", "of" + std::to_string(steps), "-q", "--steps",
                                    std::to_string(steps), "--team-report"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    std::vector<int> elements;
    const std::regex row(R"(\n +[01] +(\d+))");
    for (std::sregex_iterator i(outcome.out.begin(), outcome.out.end(), row), end; i != end; ++i)
      elements.push_back(std::stoi((*i)[1]));
    ASSERT_EQ(elements.size(), 2u) << outcome.out;
    const int all = elements[0] + elements[1];
    EXPECT_EQ(all, steps * elements_of_box(8)) << outcome.out;
    EXPECT_LT(std::max(elements[0], elements[1]), 0.55 * all) << outcome.out;
  }
}

TEST_F(TeamRuns, OntoAFullDiskNameTheProcessAndLeaveACheckpoint) {
  std::vector<std::string> arguments = run("cloth-on-sphere", 1, "full");
  arguments.emplace_back("--no-frames");
  const Outcome begun = mpi(2, arguments);
  ASSERT_EQ(begun.code, 0) << begun.err;
  const std::string before = bytes_of(directory / "full" / "checkpoint");
  // A limit on the size of files stands for the full disk; MPI itself has made its own before.
  const std::string limited = "trap '' XFSZ; ulimit -f 256; exec \"$0\" run --resume full --steps 2 -q";
  const Outcome full = run_program(
      APART_MPIRUN,
      {"--mca", "btl", "self,tcp", "--oversubscribe", "-n", "2", "sh", "-c", limited, APART_MPI_PROGRAM},
      directory.path());
  EXPECT_NE(full.code, 0);
  EXPECT_NE(full.err.find("checkpoint.new: process "), std::string::npos) << full.err;
  EXPECT_NE(full.err.find(" of 2 could not write its part"), std::string::npos) << full.err;
  EXPECT_EQ(bytes_of(directory / "full" / "checkpoint"), before);
  EXPECT_FALSE(fs::exists(directory / "full" / "checkpoint.new"));
  const Outcome resumed = apart({"run", "--resume", "full", "--steps", "2", "-q"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
}

TEST_F(TeamRuns, WithoutMemoryNameTheProcessAndLeaveACheckpoint) {
  std::ofstream(directory / "large.json") << R"({"version": 1, "time": {"dt": 0.01, "tend": 0.01}, "bodies": [
    {"type": "volume", "mesh": {"generator": "box", "size": 1, "cells": 24},
     "material": {"type": "neo_hookean", "E": 1e6, "nu": 0.4, "rho": 1000}}]})";
  const Outcome outcome = mpi(2, {"run", "large.json", "-o", "out", "-q", "--memory", "100M"});
  EXPECT_NE(outcome.code, 0);
  EXPECT_TRUE(std::regex_search(outcome.err, std::regex("process [01] of 2"))) << outcome.err;
  EXPECT_NE(outcome.err.find("memory"), std::string::npos) << outcome.err;
  const Outcome resumed = apart({"run", "--resume", "out", "-q", "--set", "solver.max_iterations=1"});
  EXPECT_EQ(resumed.code, 3) << resumed.err;  // it has been read, and the first iteration is done
  EXPECT_NE(resumed.err.find("1 Newton iterations did not reach"), std::string::npos) << resumed.err;
}

void TeamRuns::solve_by_each(const std::vector<std::string>& solvers, int steps) const {
  const Outcome alone = apart(run("cloth-on-sphere", steps, "alone"));
  ASSERT_EQ(alone.code, 0) << alone.err;
  for (const std::string& solver : solvers) {
    std::vector<std::string> arguments = run("cloth-on-sphere", steps, solver);
    // Of "auto" the way of large systems.
    arguments.insert(arguments.end(), {"--linear-solver", solver, "--gather-up-to", "0"});
    const Outcome outcome = mpi(2, arguments);
    ASSERT_EQ(outcome.code, 0) << solver << outcome.err;
    EXPECT_LT(difference("alone", solver), 1e-6) << solver;
  }
}
TEST_F(TeamRuns, LinearSolversFindTheSame) {
  solve_by_each({"schwarz", "mumps"}, 1);
}
TEST_F(TeamRuns, SlowEveryLinearSolverFindsTheSame) {
  solve_by_each({"auto", "gathered", "boomeramg", "schwarz", "gamg", "mumps"}, 2);
}

/// A stiff block that falls on the ground, factorised by MUMPS with options of PETSc.
Outcome TeamRuns::factorise_with(const std::string& options) const {
  std::ofstream(directory / "stiff.json") << R"({"version": 1, "time": {"dt": 0.01, "steps": 1}, "bodies": [
    {"type": "half_space"},
    {"type": "volume", "mesh": {"generator": "box", "size": 1, "cells": 8}, "velocity": [0, -0.5, 0],
     "transform": {"translate": [0, 0.5008, 0]},
     "material": {"type": "neo_hookean", "E": 1e9, "nu": 0.4, "rho": 1000}}]})";
  ::setenv("PETSC_OPTIONS", ("-mat_mumps_icntl_4 1 " + options).c_str(), 1);
  const Outcome outcome =
      mpi(2, {"run", "stiff.json", "-o", "stiff", "-q", "--force", "--linear-solver", "mumps"});
  ::unsetenv("PETSC_OPTIONS");
  return outcome;
}
TEST_F(TeamRuns, AFactorThatNeedsMoreRoomThanExpectedIsTriedAgain) {
  const Outcome outcome = factorise_with("-mat_mumps_icntl_14 -99");  // a hundredth of what it expects
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(std::regex_search(outcome.out, std::regex(R"(INFOG\(1\)= +-9)"))) << outcome.out;
}
TEST_F(TeamRuns, AFactorThatMemoryDoesNotSufficeForIsNoIndefiniteMatrix) {
  const Outcome outcome = factorise_with("-mat_mumps_icntl_23 1");  // [MB]
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("not enough memory for the factor"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("The last good state is in stiff"), std::string::npos) << outcome.err;
}

TEST_F(TeamRuns, AJobThatLosesAProcessNamesItAndGoesOnWithAnotherNumber) {
  const fs::path where = fs::canonical(directory.path());
  std::vector<std::string> arguments = run("cloth-on-sphere", 4, "lost");
  arguments.insert(arguments.end(), {"--set", "output.checkpoint_steps=1"});
  bool killed = false;
  const Outcome outcome = mpi(2, arguments, {.when = [&](const std::string&) {
                                if (!killed && line_count(directory / "lost" / "steps.csv") >= 2)
                                  if (const pid_t pid = process_of(1, where))
                                    killed = ::kill(pid, SIGKILL) == 0;
                                return false;
                              }});
  ASSERT_TRUE(killed);
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.err.find("rank 1"), std::string::npos) << outcome.err;
  ASSERT_LT(line_count(directory / "lost" / "steps.csv"), 5u) << "it had ended before";

  const Outcome resumed = mpi(3, {"run", "--resume", "lost", "--steps", "4", "-q"});
  ASSERT_EQ(resumed.code, 0) << resumed.out << resumed.err;
  const Outcome alone = apart(run("cloth-on-sphere", 4, "alone"));
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_LT(difference("alone", "lost"), 1e-6);
  const Outcome verified = apart({"verify", "lost"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

TEST_F(TeamRuns, WhatCannotBeDividedIsRefusedOnce) {
  const Outcome recorded = mpi(2, {"run", "twisted-mat", "--steps", "1", "--record-ccd", "queries"});
  EXPECT_EQ(recorded.code, 2);
  EXPECT_NE(recorded.err.find("process 0 of 2"), std::string::npos) << recorded.err;
  EXPECT_EQ(recorded.err.find("process 1 of 2"), std::string::npos) << recorded.err;
  const Outcome missing = mpi(2, {"run", "nothing.json"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(missing.err.find("process 1 of 2"), std::string::npos) << missing.err;
}

}  // namespace
}  // namespace apart::test
