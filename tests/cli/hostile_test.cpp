// Inputs that are made to harm: they ask for more than any machine has, lead elsewhere, or never end. The
// program refuses each with one clear message, quickly and within bounded memory.
#include <gtest/gtest.h>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

// Sanitizers keep freed memory for a while.
constexpr std::size_t megabyte = 1 << 20, most_memory = 1200 * megabyte;

std::string repeated(const std::string& text, int count) {
  std::string result = text;
  for (int i = 1; i < count; ++i) result += "," + text;
  return result;
}

std::string hostile_scene(const std::string& bodies, const std::string& rest = "") {
  return R"({"version": 1, "time": {"dt": 0.01, "tend": 0.02}, "bodies": [)" + bodies + "]" + rest + "}";
}

std::string volume(const std::string& mesh, const std::string& rest = "") {
  return R"({"type": "volume", "mesh": {)" + mesh + "}" + rest + "}";
}

const std::string tetrahedron = R"("points": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "tetrahedra": [[0,1,2,3]])";

/// Gives the program a scene; it must refuse it.
void expect_refused(const TemporaryDirectory& directory, const std::string& content,
                    const std::string& message, int code = 2) {
  write_file(directory / "scene.json", content);
  const Outcome outcome = run_program(APART_PROGRAM, {"run", "scene.json", "-o", "run"}, directory.path());
  EXPECT_EQ(outcome.code, code) << outcome.err.substr(0, 1000);
  EXPECT_NE(outcome.err.find(message), std::string::npos)
      << outcome.err.substr(0, 1000) << "\nmust contain: " << message;
  EXPECT_LT(outcome.peak_bytes, most_memory);
}

TEST(Hostile, TooManyBodiesAreRefused) {
  const TemporaryDirectory directory;
  expect_refused(directory, hostile_scene(repeated(R"({"type": "half_space"})", 100001)),
                 "with 1 to 100000 entries");
}

TEST(Hostile, MillionsOfCopiesAreRefused) {
  const TemporaryDirectory directory;
  const auto copies = [](int n) {
    return R"(, "array": {"counts": [)" + std::to_string(n) + R"(, 1, 1], "spacing": [2, 0, 0]})";
  };
  expect_refused(directory, hostile_scene(repeated(volume(tetrahedron, copies(1999)), 2000)),
                 "at most 100000 are allowed");
  expect_refused(directory, hostile_scene(volume(R"("generator": "box", "cells": 40)", copies(2000))),
                 "copies with 6.4e+08 cells in all, at most 4e+07");
}

TEST(Hostile, NoBodiesAreRefused) {
  const TemporaryDirectory directory;
  expect_refused(directory, hostile_scene(""),
                 "bodies: got [], must be a list [...] with 1 to 100000 entries");
}

TEST(Hostile, CoordinatesBeyondAllMeasureAreRefused) {
  const TemporaryDirectory directory;
  const std::string floor = R"({"type": "half_space", "origin": [0, -1, 0]})";
  expect_refused(
      directory,
      hostile_scene(
          volume(R"("points": [[0,0,0],[1e300,0,0],[0,1e300,0],[0,0,1e300]], "tetrahedra": [[0,1,2,3]])")),
      "has volume inf");
  expect_refused(directory,
                 hostile_scene(volume(tetrahedron, R"(, "transform": {"translate": [1e300, 0, 0]})")),
                 "at (1e+300, 0, 0) has volume 0");
  expect_refused(directory, hostile_scene(volume(tetrahedron, R"(, "transform": {"scale": 1e100})")),
                 "m across, must be between 1e-9 and 1e9");
  expect_refused(directory, hostile_scene(volume(tetrahedron, R"(, "transform": {"scale": 1e-100})")),
                 "m across, must be between 1e-9 and 1e9");
  // Where no length is wrong the solver must notice.
  expect_refused(directory,
                 hostile_scene(volume(tetrahedron, R"(, "velocity": [1e300, 0, 0])") + "," + floor),
                 "The last good state is in", 3);
}

TEST(Hostile, GeneratorsDoNotMakeWhatNoMemoryHolds) {
  const TemporaryDirectory directory;
  for (const char* mesh :
       {R"("generator": "box", "cells": 10000)", R"("generator": "sphere", "resolution": 500)",
        R"("generator": "torus", "ring_cells": 100000, "tube_cells": 10000)",
        R"("generator": "rod", "cells": 1000000, "cross_cells": 1000)"})
    expect_refused(directory, hostile_scene(volume(mesh)), "cells, at most 2e+07 are made");
  expect_refused(directory, hostile_scene(volume(R"("generator": "sphere", "resolution": 1e9)")),
                 "must lie in [1, 500]");
}

TEST(Hostile, TimeThatNeverEndsIsRefused) {
  const TemporaryDirectory directory;
  expect_refused(
      directory,
      R"({"version": 1, "time": {"dt": 1e-300, "tend": 1e300}, "bodies": [)" + volume(tetrahedron) + "]}",
      "use larger steps");
}

// A scene is run with the rights of who runs it and may name any file that they can read, also through links;
// but only files that have an end.
TEST(Hostile, LinksOutOfTheFolderLeadToFilesOnly) {
  const TemporaryDirectory directory, elsewhere;
  const std::string text = hostile_scene(R"({"type": "volume", "mesh": {"file": "mesh.msh"}})");
  const auto link = [&](const fs::path& target) {
    fs::remove(directory / "mesh.msh");
    fs::create_symlink(target, directory / "mesh.msh");
  };
  link("/dev/zero");
  expect_refused(directory, text, "mesh.msh: is not a regular file");
  link("mesh.msh");
  expect_refused(directory, text, "mesh.msh: no such file");
  link(elsewhere.path());
  expect_refused(directory, text, "mesh.msh: is not a regular file");
  link("/proc/self/status");
  expect_refused(directory, text, "expected $MeshFormat");

  write_file(
      elsewhere / "good.msh",
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
      "$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n");
  link(elsewhere / "good.msh");
  write_file(directory / "scene.json", text);
  EXPECT_EQ(run_program(APART_PROGRAM, {"run", "scene.json", "-o", "good"}, directory.path()).code, 0);

  fs::remove(directory / "scene.json");
  fs::create_symlink("/dev/zero", directory / "scene.json");
  const Outcome outcome = run_program(APART_PROGRAM, {"run", "scene.json", "-o", "run"}, directory.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("scene.json: is not a regular file"), std::string::npos) << outcome.err;
}

TEST(Hostile, ScriptsThatStandForEachOtherAreRefused) {
  const TemporaryDirectory directory;
  write_file(directory / "a.txt", "b.txt\n");
  write_file(directory / "b.txt", "a.txt\n");
  const Outcome outcome = run_program(APART_PROGRAM, {"run", "a.txt", "-o", "run"}, directory.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("break the circle"), std::string::npos) << outcome.err;
}

// Such a file takes no room on the disk, but would in memory.
TEST(Hostile, FilesOfTenGigabytesAreRefused) {
  const TemporaryDirectory directory;
  for (const char* name :
       {"mesh.obj", "mesh.ply", "mesh.stl", "mesh.vtu", "mesh.msh", "mesh.vtk", "mesh.seg"}) {
    write_file(directory / name, "ply\n");
    fs::resize_file(directory / name, 10'000'000'000);
    expect_refused(directory,
                   hostile_scene(std::string(R"({"type": "volume", "mesh": {"file": ")") + name + R"("}})"),
                   "has 10000000000 bytes or more, at most 2147483648 are read");
  }
  write_file(directory / "large.json", "{");
  fs::resize_file(directory / "large.json", 10'000'000'000);
  const Outcome outcome = run_program(APART_PROGRAM, {"run", "large.json", "-o", "run"}, directory.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("has 10000000000 bytes, at most 67108864 are read"), std::string::npos)
      << outcome.err;
  EXPECT_LT(outcome.peak_bytes, most_memory);
}

}  // namespace
}  // namespace apart::test
