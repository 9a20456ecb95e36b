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

/// Steps that are run of examples which take seconds to finish: enough for their bodies to collide. The
/// others run to their end. By the other method, which is not waited for each time, two thirds of them or
/// more.
std::optional<int> steps_to_run(const std::string& example, bool again) {
  struct Part {
    const char* example;
    int steps;
    int steps_again = std::max(1, 2 * steps / 3);
  };
  constexpr Part parts[] = {{"bowl-of-shapes", 17, 26},
                            {"five-cubes", 60},
                            {"ball-on-points", 20},
                            {"ball-on-segments", 20},
                            {"ball-on-squares", 20},
                            {"card-house", 100},
                            {"chain-10", 30},
                            {"chain-35", 15},
                            {"compactor", 60},
                            {"impact", 30},
                            {"masonry-arch", 100},
                            {"mat-on-knives", 20},
                            {"pin-cushion", 25},
                            {"squeeze-through-tube", 50},
                            {"stick-slip", 150},
                            {"tunnelling", 6},
                            {"twisted-rods", 90},
                            {"all-in", 6},
                            {"anisotropic-cloth", 14},
                            {"braids", 45},
                            {"card-shuffle", 10},
                            {"cloth-hung-by-two-corners", 10},
                            {"cloth-on-needles", 9},
                            {"cloth-on-rotating-sphere", 4},
                            {"cloth-on-slope", 20},
                            {"cloth-on-sphere", 4},
                            {"cloth-stack", 6},
                            {"cloth-through-funnel", 6},
                            {"garment", 20},
                            {"granules", 30},
                            {"net-and-balls", 40},
                            {"four-bar-linkage", 110, 20},
                            {"gripper", 90, 50},
                            {"rigid-arch", 40},
                            {"rigid-card-house", 30},
                            {"rigid-chain-net", 30},
                            {"rigid-coin", 300},
                            {"rigid-turntable", 100},
                            {"hairs", 6},
                            {"noodles", 6},
                            {"reef-knot", 6},
                            {"sprinkles", 9},
                            {"table-cloth", 9},
                            {"twisted-cylinder", 16}};
  for (const Part& part : parts)
    if (example == part.example) return again ? part.steps_again : part.steps;
  return std::nullopt;
}

void run_and_verify(const std::string& example, const std::string& method, std::optional<int> steps) {
  const TemporaryDirectory directory;
  std::vector<std::string> arguments = {"run", example, "-o",
                                        "out", "--set", "solver.ccd=\"" + method + "\""};
  if (steps) arguments.insert(arguments.end(), {"--steps", std::to_string(*steps)});
  const Outcome run = run_program(APART_PROGRAM, arguments, directory.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const auto summary = nlohmann::json::parse(read_file(directory / "out/summary.json"));
  EXPECT_EQ(summary["intersection_free"], true);
  EXPECT_EQ(summary["inversion_free"], true);
  EXPECT_EQ(summary["steps"], summary["converged_steps"]);
  if (example != "hanging-bar" && example != "four-bar-linkage") {
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
                           const bool small = name.starts_with("unit") || name.starts_with("erleben");
                           const bool longest = name.starts_with("chain_35") ||
                                                name.starts_with("granules") || name.starts_with("net_") ||
                                                name.starts_with("sprinkles") ||
                                                name.starts_with("squeeze") || name.starts_with("tunnelling");
                           const bool each_time =
                               (std::get<1>(test.param) == "additive" && !longest) || small;
                           return each_time ? name : name + "_Slow";
                         });

}  // namespace
}  // namespace apart::test
