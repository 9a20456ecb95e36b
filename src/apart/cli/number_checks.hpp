#pragma once
// Ranges of numbers on the command line, whose messages say the rule instead of the largest double.
#include <apart/io/file_reader.hpp>

#include <CLI/CLI.hpp>

namespace apart {

inline CLI::Validator positive_number() {
  return {[](const std::string& text) {
            const auto value = parse_real(text);
            return value && *value > 0 ? std::string()
                                       : fmt::format("got {}, must be a positive number", text);
          },
          ""};
}

inline CLI::Validator number_from_zero() {
  return {[](const std::string& text) {
            const auto value = parse_real(text);
            return value && *value >= 0 ? std::string()
                                        : fmt::format("got {}, must be a number, not negative", text);
          },
          ""};
}

}  // namespace apart
