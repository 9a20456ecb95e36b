#pragma once

namespace apart {

// Exit codes, as in the documentation of the program.
constexpr int exit_done = 0;
constexpr int exit_bad_input = 2;
constexpr int exit_solver_failed = 3;
constexpr int exit_not_verified = 4;
constexpr int exit_wrong_usage = 64;
constexpr int exit_internal = 70;
/// Between `apart sweep` and its runs only: nothing is wrong with the input, the same command may succeed
/// later.
constexpr int exit_not_now = 75;
constexpr int exit_signal = 128;  // plus the number of the signal: 130 for Ctrl-C

}  // namespace apart
