#include <apart/cli/memory_option.hpp>
#include <apart/core/memory.hpp>
#include <apart/io/file_reader.hpp>

#include <sys/resource.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace apart {
namespace {

/// "8G", "500M", "2e9": bytes.
std::optional<std::size_t> parse_bytes(const std::string& text) {
  const std::size_t end = text.find_first_not_of("0123456789.eE+");
  const std::string unit = end == text.npos ? "" : lower_case(text.substr(end));
  const auto number = parse_real(text.substr(0, end));
  for (const auto& [name, factor] : {std::pair("", 1.0), std::pair("k", 1e3), std::pair("m", 1e6),
                                     std::pair("g", 1e9), std::pair("t", 1e12)})
    if (number && (unit == name || (*name && unit == std::string(name) + "b")) && *number * factor >= 1e8 &&
        *number * factor < 1e18)
      return std::size_t(*number * factor);
  return std::nullopt;
}

}  // namespace

void bound_memory(std::size_t bytes, int processes) {
  const std::size_t available = available_memory();
  const std::size_t most = bytes > 0 ? bytes
                           : available == std::numeric_limits<std::size_t>::max()
                               ? available
                               : available / 10 * 9 / std::size_t(processes);
  if (most == std::numeric_limits<std::size_t>::max()) return;
  set_memory_limit(most);
  // Address space that is set aside and hardly used (stacks, buffers of BLAS) counts here.
  constexpr std::size_t slack = std::size_t(1) << 30;
  struct rlimit data {};
  if (::getrlimit(RLIMIT_DATA, &data) == 0 && most < data.rlim_max - std::min<rlim_t>(slack, data.rlim_max)) {
    data.rlim_cur = std::min<rlim_t>(most + slack, data.rlim_max);
    ::setrlimit(RLIMIT_DATA, &data);
  }
}

void add_memory_option(CLI::App& command, std::size_t& bytes) {
  command
      .add_option_function<std::string>(
          "--memory",
          [&bytes](const std::string& text) {
            const auto parsed = parse_bytes(text);
            if (!parsed)
              throw CLI::ValidationError("--memory",
                                         fmt::format("got {}, must be like 8G or 500M, at least 100M", text));
            bytes = *parsed;
          },
          "Memory limit, such as 8G or 500M; a run that needs more ends with exit code 3; default: nine "
          "tenths of the free memory")
      ->type_name("SIZE");
}

}  // namespace apart
