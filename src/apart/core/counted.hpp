#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace apart {

/// "1 thread", "2 threads", "0 bodies". `plural`: if it is not the word with an s.
inline std::string counted(std::int64_t count, std::string_view word, std::string_view plural = {}) {
  if (count == 1) return fmt::format("1 {}", word);
  return plural.empty() ? fmt::format("{} {}s", count, word) : fmt::format("{} {}", count, plural);
}

}  // namespace apart
