// Help, wrong arguments, and the commands that take a few lines each.
#include "runs.hpp"

#include <fstream>
#include <sstream>

namespace apart::test {
namespace {

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
