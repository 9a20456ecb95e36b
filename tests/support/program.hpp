#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace apart::test {

/// What a program said and how it ended.
struct Outcome {
  int code = 0;  ///< exit code; 128 + signal if a signal ended it
  std::string out, err;
  std::size_t peak_bytes = 0;  ///< largest resident set
};

/// Runs the program `apart` (its path is the caller's APART_PROGRAM) in a directory and waits for its end.
/// `interrupt_after`: seconds after which it gets the signal of Ctrl-C; negative: never.
Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                    const std::filesystem::path& directory, double interrupt_after = -1);

/// Names of everything in a directory, sorted, relative to it.
std::vector<std::string> content_of(const std::filesystem::path& directory);

}  // namespace apart::test
