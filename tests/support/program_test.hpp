#pragma once
#include <gtest/gtest.h>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

namespace apart::test {

/// For tests of the program: each has a directory of its own, in which it is run.
class ProgramTest : public ::testing::Test {
 protected:
  /// As run_program does.
  Outcome apart(const std::vector<std::string>& arguments, const Signal& signal = {}) const {
    return run_program(APART_PROGRAM, arguments, directory.path(), signal);
  }
  TemporaryDirectory directory;
};

}  // namespace apart::test
