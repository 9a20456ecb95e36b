// What `apart ccd` and `apart run --record-ccd` promise.
#include <gtest/gtest.h>
#include <support/program_test.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

/// A vertex that falls through a triangle at time 1/2; `truth` is what the file claims.
std::string falling_vertex(char truth) {
  std::string text;
  for (const char* row : {"1,4,1,4,1,1", "0,1,0,1,0,1", "1,1,0,1,0,1", "0,1,1,1,0,1", "1,4,1,4,-1,1",
                          "0,1,0,1,0,1", "1,1,0,1,0,1", "0,1,1,1,0,1"})
    text += std::string(row) + "," + truth + "\n";
  return text;
}

class Ccd : public ProgramTest {
 protected:
  Outcome run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "ccd");
    return apart(arguments);
  }
};

TEST_F(Ccd, MakesQueriesAndAnswersThemWithoutMissingOne) {
  const Outcome made = run({"--generate", "near-contact", "--count", "301", "--seed", "4", "out"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(content_of(directory / "out"),
            (std::vector<std::string>{"edge-edge", "edge-edge/near-contact.csv", "vertex-face",
                                      "vertex-face/near-contact.csv"}));
  for (const char* method : {"tight", "additive"}) {
    const Outcome asked = run({"out", "--method", method, "--tolerance", "1e-4", "--max-iterations", "1000",
                               "--threads", "2", "--json"});
    ASSERT_EQ(asked.code, 0) << asked.err;
    const auto json = nlohmann::json::parse(asked.out);
    EXPECT_EQ(json["method"], method);
    EXPECT_EQ(json["tolerance"], 1e-4);
    EXPECT_EQ(json["max_iterations"], 1000);
    EXPECT_EQ(json["threads"], 2);
    EXPECT_EQ(json["files"].size(), 2u);
    EXPECT_EQ(json["total"]["queries"], 301);
    EXPECT_EQ(json["vertex_face"]["queries"], 150);
    EXPECT_EQ(json["edge_edge"]["queries"], 151);
    EXPECT_EQ(json["total"]["true_impacts"], 75 + 76);
    EXPECT_EQ(json["total"]["unknown"], 0);
    EXPECT_EQ(json["total"]["false_negatives"], 0);
    EXPECT_LT(json["total"]["false_positives"], 75);
    EXPECT_GT(json["total"]["mean_us"], 0);
    EXPECT_GE(json["total"]["max_us"], json["total"]["p99_us"]);
  }
  const Outcome table = run({"out"});
  EXPECT_EQ(table.code, 0);
  for (const char* part :
       {"false +", "false -", "p99 us", "out/edge-edge/near-contact.csv", "vertex-face", "total"})
    EXPECT_NE(table.out.find(part), std::string::npos) << part;
}

TEST_F(Ccd, MakesEveryKindAndTheSameForTheSameSeed) {
  for (const char* kind : {"random", "near-contact", "sliding", "coplanar", "parallel-edges",
                           "degenerate-points", "tiny", "huge"}) {
    ASSERT_EQ(run({"--generate", kind, "--count", "40", "--seed", "1", "a"}).code, 0) << kind;
    ASSERT_EQ(run({"--generate", kind, "--count", "40", "--seed", "1", "--threads", "2", "b"}).code, 0)
        << kind;
    ASSERT_EQ(run({"--generate", kind, "--count", "40", "--seed", "2", "c"}).code, 0) << kind;
    const fs::path file = fs::path("edge-edge") / (std::string(kind) + ".csv");
    EXPECT_EQ(read_file(directory / "a" / file), read_file(directory / "b" / file)) << kind;
    EXPECT_NE(read_file(directory / "a" / file), read_file(directory / "c" / file)) << kind;
  }
  EXPECT_FALSE(fs::exists(directory / "a/vertex-face/parallel-edges.csv"));
  EXPECT_EQ(run({"a", "--max-iterations", "1000"}).code, 0);
}

TEST_F(Ccd, MakesQueriesForASeparation) {
  ASSERT_EQ(run({"--generate", "random", "--count", "200", "--separation", "0.01", "out"}).code, 0);
  for (const char* method : {"tight", "additive"}) {
    const Outcome with = run({"out", "--method", method, "--separation", "0.01", "--json"});
    EXPECT_EQ(with.code, 0) << with.err;
    EXPECT_EQ(nlohmann::json::parse(with.out)["total"]["false_negatives"], 0);
  }
  EXPECT_EQ(run({"out", "--separation", "0.02"}).code, 0);
  // With less, what was planted at a distance need not be touched.
  const Outcome without = run({"out"});
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.err.find("out/edge-edge/random.csv: its truth holds for a separation of 0.01 m, but it "
                             "is queried with 0 m"),
            std::string::npos)
      << without.err;
  EXPECT_NE(without.err.find("use --separation 0.01\n"), std::string::npos) << without.err;
  EXPECT_EQ(run({"out", "--separation", "0.009"}).code, 2);
  const Outcome large = run({"--generate", "tiny", "--separation", "0.01", "other"});
  EXPECT_EQ(large.code, 2);
  EXPECT_NE(large.err.find("--separation: got 0.01, must be at most 9.31e-10 for tiny queries"),
            std::string::npos)
      << large.err;
}

TEST_F(Ccd, LeavesNoFolderWithoutQueries) {
  const Outcome one = run({"--generate", "random", "--count", "1", "one"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out, "one/edge-edge/random.csv: 1 query\n");
  EXPECT_EQ(content_of(directory / "one"), (std::vector<std::string>{"edge-edge", "edge-edge/random.csv"}));
  ASSERT_EQ(run({"--generate", "parallel-edges", "--count", "2", "edges"}).code, 0);
  EXPECT_EQ(content_of(directory / "edges"),
            (std::vector<std::string>{"edge-edge", "edge-edge/parallel-edges.csv"}));
  // A forced set replaces the whole of the earlier one.
  ASSERT_EQ(run({"--generate", "random", "--count", "2", "two"}).code, 0);
  EXPECT_TRUE(fs::exists(directory / "two/vertex-face/random.csv"));
  ASSERT_EQ(run({"--generate", "random", "--count", "1", "--force", "two"}).code, 0);
  EXPECT_EQ(content_of(directory / "two"), (std::vector<std::string>{"edge-edge", "edge-edge/random.csv"}));
}

TEST_F(Ccd, CountsAFileOnceHoweverItIsSpelled) {
  write_file(directory / "vertex-face.csv", falling_vertex('1'));
  const Outcome outcome = run({"vertex-face.csv", "./vertex-face.csv", ".", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["files"].size(), 1u);
  EXPECT_EQ(json["files"][0]["file"], "vertex-face.csv");
}

TEST_F(Ccd, ReplacesNothingUnlessForced) {
  ASSERT_EQ(run({"--generate", "random", "--count", "10", "out"}).code, 0);
  const std::string before = read_file(directory / "out/edge-edge/random.csv");
  const Outcome again = run({"--generate", "random", "--count", "10", "--seed", "9", "out"});
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("exists; choose another folder, or replace it with --force"), std::string::npos)
      << again.err;
  EXPECT_EQ(read_file(directory / "out/edge-edge/random.csv"), before);
  EXPECT_EQ(run({"--generate", "random", "--count", "10", "--seed", "9", "--force", "out"}).code, 0);
  EXPECT_NE(read_file(directory / "out/edge-edge/random.csv"), before);
}

TEST_F(Ccd, AMissedImpactEndsWithExitCodeFour) {
  // No method misses one, so the truth must be wrong: primitives that part, said to touch.
  std::string text = falling_vertex('1');
  const std::size_t end = text.rfind("-1,1,1");
  text.replace(end, 2, "9");
  write_file(directory / "vertex-face.csv", text);
  const Outcome outcome = run({"vertex-face.csv"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_NE(outcome.err.find("1 impact was missed"), std::string::npos) << outcome.err;
}

TEST_F(Ccd, CountsFalsePositivesAndUnknownTruth) {
  write_file(directory / "vertex-face.csv", falling_vertex('0') + falling_vertex('?') + falling_vertex('1'));
  const Outcome outcome = run({"vertex-face.csv", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto total = nlohmann::json::parse(outcome.out)["total"];
  EXPECT_EQ(total["queries"], 3);
  EXPECT_EQ(total["false_positives"], 1);
  EXPECT_EQ(total["unknown"], 1);
  EXPECT_EQ(total["impacts_answered"], 3);
}

TEST_F(Ccd, BadFilesEndWithExitCodeTwoAndTheLine) {
  write_file(directory / "vertex-face.csv", falling_vertex('1') + "1,2\n");
  const Outcome bad = run({"vertex-face.csv"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_NE(bad.err.find("vertex-face.csv:9: has 2 columns"), std::string::npos) << bad.err;
  const Outcome missing = run({"nothing"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("nothing: no such file or folder"), std::string::npos) << missing.err;
}

TEST_F(Ccd, WrongUsageEndsWithExitCode64) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"x.csv", "--method", "fast"},
                                                    {"x.csv", "--tolerance", "0"},
                                                    {"x.csv", "--max-iterations", "-1"},
                                                    {"x.csv", "--separation", "-1"},
                                                    {"--generate", "nonsense", "out"},
                                                    {"--generate", "random", "--method", "tight", "out"},
                                                    {"--generate", "random", "a", "b"},
                                                    {"--count", "5", "x.csv"}})
    EXPECT_EQ(run(arguments).code, 64) << ::testing::PrintToString(arguments);
  EXPECT_TRUE(content_of(directory.path()).empty());
}

TEST_F(Ccd, SaysWhatAnOptionTakes) {
  struct Wrong {
    std::vector<std::string> arguments;
    std::string message;
  };
  const std::string kinds =
      "random, near-contact, sliding, coplanar, parallel-edges, degenerate-points, tiny or huge";
  const std::string to_most = "must be a whole number from 1 to 2147483647";
  for (const auto& [arguments, message] : std::vector<Wrong>{
           {{"x.csv", "--tolerance", "-1"}, "--tolerance: got -1, must be a positive number of metres"},
           {{"x.csv", "--tolerance", "0"}, "--tolerance: got 0, must be"},
           {{"x.csv", "--tolerance", "nan"}, "--tolerance: got nan, must be"},
           {{"x.csv", "--tolerance", "inf"}, "--tolerance: got inf, must be"},
           {{"x.csv", "--tolerance", "1e999"}, "--tolerance: got 1e999, must be"},
           {{"x.csv", "--tolerance", "fine"}, "--tolerance: got 'fine', must be"},
           {{"x.csv", "--separation", "-1"}, "--separation: got -1, must be a number of metres, 0 or more"},
           {{"x.csv", "--separation", "nan"}, "--separation: got nan, must be"},
           {{"x.csv", "--max-iterations", "0"}, "--max-iterations: got 0, " + to_most},
           {{"x.csv", "--max-iterations", "3000000000"}, "--max-iterations: got 3000000000, " + to_most},
           {{"x.csv", "--threads", "0"}, "--threads: got 0, must be a whole number from 1 to 1024"},
           {{"x.csv", "--threads", "1025"}, "--threads: got 1025, must be"},
           {{"--generate", "random", "--count", "-5", "out"}, "--count: got -5, " + to_most},
           {{"--generate", "random", "--count", "2.5", "out"}, "--count: got 2.5, " + to_most},
           {{"--generate", "random", "--seed", "-1", "out"},
            "--seed: got -1, must be a whole number from 0 to 18446744073709551615"},
           {{"--generate", "random", "--seed", "18446744073709551616", "out"},
            "--seed: got 18446744073709551616"},
           {{"x.csv", "--method", "foo"}, "--method: got 'foo', must be tight or additive"},
           {{"x.csv", "--method", "0"}, "--method: got 0, must be tight or additive"},
           {{"--generate", "foo", "out"}, "--generate: got 'foo', must be " + kinds},
           {{"--generate", "3", "out"}, "--generate: got 3, must be " + kinds}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 64) << message;
    EXPECT_NE(outcome.err.find(message), std::string::npos)
        << "missing: " << message << "\nin: " << outcome.err;
  }
  EXPECT_TRUE(content_of(directory.path()).empty());
  EXPECT_EQ(run({"--generate", "random", "--count", "2", "--seed", "18446744073709551615", "out"}).code, 0);
  EXPECT_NE(read_file(directory / "out/edge-edge/random.csv").find("seed 18446744073709551615"),
            std::string::npos);
}

// ---- recording

const std::string ball_on_box = R"({
  "version": 1,
  "time": {"dt": 0.02, "steps": 4},
  "bodies": [
    {"type": "volume", "name": "box", "mesh": {"generator": "box", "size": [0.4, 0.1, 0.4], "cells": [3, 1, 3]}},
    {"type": "volume", "name": "ball", "mesh": {"generator": "sphere", "radius": 0.1, "resolution": 2},
     "transform": {"translate": [0, 0.16, 0]}, "velocity": [0.3, -2, 0]}]
})";

TEST_F(Ccd, RecordedQueriesOfARunCanBeAsked) {
  write_file(directory / "scene.json", ball_on_box);
  const auto simulate = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"run", "scene.json", "--no-frames"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return apart(arguments);
  };
  ASSERT_EQ(simulate({"-o", "with", "--record-ccd", "queries"}).code, 0);
  ASSERT_EQ(simulate({"-o", "without"}).code, 0);
  EXPECT_EQ(read_file(directory / "with/checkpoint"), read_file(directory / "without/checkpoint"))
      << "recording changed the result";
  const Outcome asked = run({"queries", "--json"});
  ASSERT_EQ(asked.code, 0) << asked.err;
  const auto json = nlohmann::json::parse(asked.out);
  EXPECT_GT(json["vertex_face"]["queries"], 10);
  EXPECT_GT(json["edge_edge"]["queries"], 10);
  EXPECT_EQ(json["total"]["unknown"], json["total"]["queries"]);
  EXPECT_GT(json["total"]["impacts_answered"], 0) << "the ball hits the box";

  const Outcome again = simulate({"-o", "again", "--record-ccd", "queries"});
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("exists; choose another folder"), std::string::npos) << again.err;
  EXPECT_FALSE(fs::exists(directory / "again"));
}

}  // namespace
}  // namespace apart::test
