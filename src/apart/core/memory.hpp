#pragma once
// How much memory the program may use. One limit for the whole process, as there is one number of threads.
#include <apart/core/error.hpp>

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace apart {

/// More memory would be needed than the program may use; the last good state is kept. The message says what
/// for and what to change. The program ends with exit code 3.
class MemoryError : public SolverError {
 public:
  using SolverError::SolverError;
};

/// Bytes that the program may use in all; large parts are refused before they are asked for, see
/// ensure_memory. Without a call there is no limit.
void set_memory_limit(std::size_t bytes);
std::size_t memory_limit();  ///< the largest number if there is none

/// Bytes that the program uses now; 0 if the system does not say.
std::size_t resident_bytes();

/// Throws MemoryError if `more` bytes beside those in use go beyond the limit. `what` needs them: "the pairs
/// within reach of each other"; `remedy`: "lower contact.dhat".
void ensure_memory(double more, std::string_view what, std::string_view remedy);

/// What this process can have at most, in bytes: the memory of the machine that is free now or used by
/// itself, or less if its control group is allowed less. The largest number if nobody says.
std::size_t available_memory();
/// The least that the control groups of this process are allowed, versions 1 and 2; the largest number if
/// there is no limit. `groups`: where they are; `own`: which of them are the process's.
std::size_t control_group_limit(const std::filesystem::path& groups = "/sys/fs/cgroup",
                                const std::filesystem::path& own = "/proc/self/cgroup");

}  // namespace apart
