// What holds of the tests themselves.
#include <gtest/gtest.h>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include <filesystem>
#include <regex>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

/// Calls f with the name and the text of every source file of the tests but this one.
void for_each_source(const auto& f) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(APART_SOURCE_DIR) / "tests")) {
    const fs::path& file = entry.path();
    if ((file.extension() != ".cpp" && file.extension() != ".hpp") ||
        file.filename() == "test_conventions_test.cpp")
      continue;
    f(file.string(), testing::read_file(file));
    ++files;
  }
  EXPECT_GT(files, 100);
}

TEST(TestConventions, WhatIsSkippedSaysWhyAndWhatMakesItRun) {
  const std::regex skip(R"(GTEST_SKIP\(\)([^;]*);)");
  for_each_source([&](const std::string& file, const std::string& text) {
    for (std::sregex_iterator m(text.begin(), text.end(), skip), end; m != end; ++m) {
      const std::string reason = (*m)[1];
      EXPECT_NE(reason.find(": "), std::string::npos)
          << file << ": GTEST_SKIP() << \"what is missing: what to do\"; got" << reason;
    }
  });
}

TEST(TestConventions, SkippedTestsAreListedWithTheirReasons) {
  const testing::TemporaryDirectory directory;
  fs::create_directories(directory / "Testing/Temporary");
  const auto listed = [&](const std::string& log) {
    testing::write_file(directory / "Testing/Temporary/LastTest.log", log);
    return testing::run_program((fs::path(APART_SOURCE_DIR) / "scripts/skipped-tests").string(),
                                {directory.path().string()}, directory.path())
        .out;
  };
  const std::string passed =
      "1/9 Testing: io.A.Passes\nOutput:\n[ RUN      ] A.Passes\n<end of output>\nTest Passed.\n";
  const auto skipped = [](const std::string& name, const std::string& output) {
    return "2/9 Testing: " + name + "\nOutput:\n" + output +
           "<end of output>\nTest Pass Reason:\nSkip regular expression found in output. Regex=[x]\n";
  };
  const std::string reason = "../a_test.cpp:4: Skipped\nno data: get some,\nor make it\n[  SKIPPED ] A.B\n";
  EXPECT_EQ(listed(passed), "");
  EXPECT_EQ(listed(passed + skipped("io.A.B", reason) + passed + skipped("io.A.C", "\n" + reason) +
                   skipped("fuzz", "Skipped: no fuzzer: install it\n")),
            "\n3 tests were skipped:\n"
            "  no data: get some, or make it\n"
            "      io.A.B\n"
            "      io.A.C\n"
            "  no fuzzer: install it\n"
            "      fuzz\n");
}

}  // namespace
}  // namespace apart::test
