// Every built-in example runs to its end with both methods of collision detection and is proven by verify.
#include <apart/scene/examples.hpp>

#include <gtest/gtest.h>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

namespace {

using apart::testing::Outcome;
using apart::testing::read_file;
using apart::testing::run_program;
using apart::testing::TemporaryDirectory;

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const apart::Example& example : apart::examples()) result.emplace_back(example.name);
  return result;
}

/// An example and a method.
class Examples : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Examples, RunAndVerify) {
  const TemporaryDirectory directory;
  const auto& [example, method] = GetParam();
  const Outcome run =
      run_program(APART_PROGRAM, {"run", example, "-o", "out", "--set", "solver.ccd=\"" + method + "\""},
                  directory.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const auto summary = nlohmann::json::parse(read_file(directory / "out/summary.json"));
  EXPECT_EQ(summary["intersection_free"], true);
  EXPECT_EQ(summary["inversion_free"], true);
  EXPECT_EQ(summary["steps"], summary["converged_steps"]);
  const Outcome verify = run_program(APART_PROGRAM, {"verify", "out"}, directory.path());
  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
}

INSTANTIATE_TEST_SUITE_P(All, Examples,
                         ::testing::Combine(::testing::ValuesIn(names()),
                                            ::testing::Values("additive", "tight_inclusion")),
                         [](const auto& test) {
                           std::string name = std::get<0>(test.param) + "_" + std::get<1>(test.param);
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
