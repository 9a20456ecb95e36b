#pragma once
#include <signal.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace apart::test {

/// What a program said and how it ended.
struct Outcome {
  int code = 0;  ///< exit code; 128 + signal if a signal ended it
  std::string out, err;
  std::size_t peak_bytes = 0;  ///< largest resident set
};

/// A signal for a running program, by default that of Ctrl-C, sent as soon as `when` is true of what the
/// program has printed so far. What has been printed or written shows how far a program is; seconds do not,
/// on a busy machine.
struct Signal {
  std::function<bool(const std::string& printed)> when;  ///< called every 2 ms; none: no signal is sent
  int number = SIGINT;
};

/// Runs the program `apart` (its path is the caller's APART_PROGRAM) in a directory and waits for its end.
Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                    const std::filesystem::path& directory, const Signal& signal = {});

/// Names of everything in a directory, sorted, relative to it.
std::vector<std::string> content_of(const std::filesystem::path& directory);

std::size_t line_count(const std::filesystem::path& file);  ///< 0 if there is no such file

}  // namespace apart::test
