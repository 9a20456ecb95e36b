#pragma once
// The memory limit: one for the whole process, like the number of threads.
#include <apart/core/error.hpp>

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace apart {

/// More memory is needed than the program may use; the last good state is kept. The message says what for,
/// and what to change. The program ends with exit code 3.
class MemoryError : public SolverError {
 public:
  using SolverError::SolverError;
};

/// Bytes that the program may use in total; large requests are refused before they are allocated, see
/// ensure_memory. Without a call there is no limit.
void set_memory_limit(std::size_t bytes);
std::size_t memory_limit();  ///< the largest number if there is none

/// Bytes that the program uses now; 0 if the system does not say.
std::size_t resident_bytes();

/// Throws MemoryError if `more` bytes in addition to those in use would exceed the limit. `what` needs them:
/// "the pairs within reach of each other"; `remedy`: "lower contact.dhat".
void ensure_memory(double more, std::string_view what, std::string_view remedy);

/// The most memory that this process can have, in bytes: what is free now or used by itself, or less if its
/// control group is limited. The largest number if unknown.
std::size_t available_memory();
/// The smallest limit of the control groups of this process, versions 1 and 2; the largest number if there is
/// no limit. `groups`: where they are; `own`: which of them are the process's.
std::size_t control_group_limit(const std::filesystem::path& groups = "/sys/fs/cgroup",
                                const std::filesystem::path& own = "/proc/self/cgroup");

}  // namespace apart
