// Every built-in example runs with both methods of collision detection and is proven by verify: to its end,
// or, if that takes long, through its first contacts.
#include <apart/scene/examples.hpp>

#include <gtest/gtest.h>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace apart::test {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const apart::Example& example : apart::examples()) result.emplace_back(example.name);
  return result;
}

/// Steps that are run of examples which take seconds to finish; the others run to their end.
struct Part {
  const char* example;
  int steps;          ///< each time: enough for bodies to collide
  int slow_steps;     ///< by `make slow-test`
  int slow_by_other;  ///< by `make slow-test` and the other method
};
// clang-format off
constexpr Part parts[] = {
    {"rigid-dominoes", 90, 150, 150},
    {"bowl-of-shapes", 12, 17, 26},
    {"balls-on-points-segments-squares", 6, 16, 10},
    {"chain-10", 12, 30, 20},
    {"compactor", 42, 60, 40},
    {"impact", 12, 60, 20},
    {"mat-on-knives", 12, 20, 13},
    {"pin-cushion", 12, 25, 16},
    {"squeeze-through-tube", 50, 50, 33},
    {"stick-slip", 150, 150, 100},
    {"tunnelling", 2, 2, 2},
    {"twisted-rods", 60, 90, 60},
    {"all-in", 6, 6, 4},
    {"anisotropic-cloth", 11, 16, 12},
    {"braids", 30, 45, 30},
    {"card-shuffle", 6, 30, 6},
    {"cloth-hung-by-two-corners", 6, 10, 6},
    {"cloth-on-needles", 5, 9, 6},
    {"cloth-on-rotating-sphere", 4, 4, 2},
    {"cloth-on-sphere", 4, 4, 2},
    {"cloth-stack", 4, 12, 3},
    {"cloth-through-funnel", 4, 6, 4},
    {"sewn-sack", 13, 20, 13},
    {"twisted-mat", 30, 75, 35},
    {"corner-pulled-cloth", 6, 20, 12},
    {"ball-on-cloth-stack", 2, 12, 4},
    {"rollers-of-edges-and-points", 14, 30, 20},
    {"figure-through-funnel", 8, 40, 25},
    {"dress", 1, 20, 8},
    {"layered-skirt", 3, 20, 12},
    {"card-house-hit", 70, 140, 70},
    {"granules", 14, 60, 14},
    {"net-and-balls", 20, 36, 20},
    {"four-bar-linkage", 60, 110, 20},
    {"gripper", 45, 90, 50},
    {"rigid-arch", 20, 130, 26},
    {"rigid-card-house", 30, 30, 20},
    {"rigid-chain-net", 30, 30, 20},
    {"rigid-coin", 300, 300, 200},
    {"rigid-turntable", 100, 100, 66},
    {"curved-balls", 16, 20, 16},
    {"remeshed-cloth", 14, 30, 14},
    {"remeshed-impact", 4, 20, 6},
    {"remeshed-twist", 12, 40, 12},
    {"remeshed-planar-masticator", 30, 60, 40},
    {"remeshed-planar-wave", 40, 240, 60},
    {"hair-on-a-ball", 20, 40, 20},
    {"hairs", 6, 6, 4},
    {"noodles", 2, 6, 3},
    {"reef-knot", 6, 6, 4},
    {"sprinkles", 9, 9, 6},
    {"table-cloth", 5, 9, 6},
    {"twisted-cylinder", 14, 16, 14},
};
// clang-format on

std::optional<int> steps_to_run(const std::string& example, bool by_other) {
  for (const Part& part : parts)
    if (example == part.example) return by_other ? part.slow_by_other : part.steps;
  return std::nullopt;
}

void run_and_verify(const std::string& example, const std::string& method, std::optional<int> steps) {
  const TemporaryDirectory directory;
  std::vector<std::string> arguments = {"run", example, "-o",
                                        "out", "--set", "solver.ccd=\"" + method + "\""};
  const bool remeshed = example.starts_with("remeshed-");
  if (remeshed) arguments.push_back("--record-iterates");  // only these prove what happens when meshes change
  if (steps) arguments.insert(arguments.end(), {"--steps", std::to_string(*steps)});
  const Outcome run = run_program(APART_PROGRAM, arguments, directory.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const auto summary = nlohmann::json::parse(read_file(directory / "out/summary.json"));
  EXPECT_EQ(summary["intersection_free"], true);
  EXPECT_EQ(summary["inversion_free"], true);
  EXPECT_EQ(summary["steps"], summary["converged_steps"]);
  if (remeshed) {
    EXPECT_GT(summary["splits"], 0);
  }
  if (example != "four-bar-linkage" && example != "remeshed-twist" && example != "cooks-membrane" &&
      example != "remeshed-planar-wave") {
    EXPECT_GT(summary["max_contacts"], 0) << "they must have met";
  }
  const Outcome verify = run_program(APART_PROGRAM, {"verify", "out"}, directory.path());
  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
}

/// An example and a method.
class Examples : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Examples, RunAndVerify) {
  const auto& [example, method] = GetParam();
  run_and_verify(example, method, steps_to_run(example, method != "additive"));
}

TEST(LongExamples, SlowRunPastTheirFirstContacts) {
  for (const Part& part : parts)
    if (part.slow_steps > part.steps) {
      SCOPED_TRACE(part.example);
      run_and_verify(part.example, "additive", part.slow_steps);
    }
}

TEST(LongExamples, SlowTheBowlOfShapesIsRunPastItsTightestSteps) {
  run_and_verify("bowl-of-shapes", "additive", 40);
}

INSTANTIATE_TEST_SUITE_P(All, Examples,
                         ::testing::Combine(::testing::ValuesIn(names()),
                                            ::testing::Values("additive", "tight_inclusion")),
                         [](const auto& test) {
                           std::string name = std::get<0>(test.param) + "_" + std::get<1>(test.param);
                           for (char& c : name)
                             if (c == '-') c = '_';
                           // By the other method, only the small ones each time; the longest not each time.
                           const bool small = name.starts_with("narrow") || name.starts_with("degenerate");
                           const bool longest = name.starts_with("granules") || name.starts_with("net_") ||
                                                name.starts_with("sprinkles") ||
                                                name.starts_with("squeeze") || name.starts_with("tunnelling");
                           const bool each_time =
                               (std::get<1>(test.param) == "additive" && !longest) || small;
                           return each_time ? name : name + "_Slow";
                         });

}  // namespace
}  // namespace apart::test
