#include <apart/core/memory.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <string>

namespace apart {

namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
std::atomic<std::size_t> limit = no_limit;

/// The number in a file of a control group; none if it is "max", or more than any machine has.
std::size_t number_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  double value = 0;
  if (!(stream >> value) || !(value > 0) || value > 1e18) return no_limit;
  return std::size_t(value);
}

/// A line "NAME: NUMBER kB" of /proc/meminfo [bytes]; 0 if there is none.
std::size_t meminfo(std::string_view name) {
  std::ifstream stream("/proc/meminfo");
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(name)) return std::size_t(std::stoull(line.substr(name.size()))) * 1024;
  return 0;
}

}  // namespace

void set_memory_limit(std::size_t bytes) {
  limit = bytes;
}

std::size_t memory_limit() {
  return limit;
}

std::size_t resident_bytes() {
  std::ifstream stream("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  if (!(stream >> all >> resident)) return 0;
  return resident * std::size_t(::sysconf(_SC_PAGESIZE));
}

void ensure_memory(double more, std::string_view what, std::string_view remedy) {
  const std::size_t most = limit;
  if (most == no_limit) return;
  const double needed = double(resident_bytes()) + more;
  if (needed <= double(most)) return;
  throw MemoryError(
      fmt::format("memory: {} need {:.3g} GB, {:.3g} GB in total, and the limit is {:.3g} GB; {}, or allow "
                  "more with --memory",
                  what, more / 1e9, needed / 1e9, double(most) / 1e9, remedy));
}

std::size_t control_group_limit(const std::filesystem::path& groups, const std::filesystem::path& own) {
  namespace fs = std::filesystem;
  std::size_t least = no_limit;
  // The limits of enclosing groups apply as well.
  const auto look = [&](const fs::path& top, fs::path group, const char* file) {
    group = group.relative_path();
    while (true) {
      least = std::min(least, number_in(top / group / file));
      if (group.empty()) break;
      group = group.parent_path();
    }
  };
  std::ifstream stream(own);
  for (std::string line; std::getline(stream, line);) {  // "ID:CONTROLLERS:/PATH"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path path = line.substr(second + 1);
    if (controllers == ",,")
      look(groups, path, "memory.max");
    else if (controllers.find(",memory,") != controllers.npos)
      look(groups / "memory", path, "memory.limit_in_bytes");
  }
  return least;
}

std::size_t available_memory() {
  const std::size_t free = meminfo("MemAvailable:");
  const std::size_t machine = free > 0 ? free + resident_bytes() : no_limit;
  return std::min(machine, control_group_limit());
}

}  // namespace apart
