#pragma once
// Doubles as fractions of integers in text, without loss; the only includer of GMP is rational.cpp.
#include <string>
#include <string_view>

namespace apart {

enum class FractionFault { none, not_a_number, zero_denominator };

struct ParsedFraction {
  double value = 0;
  FractionFault fault = FractionFault::none;
};

/// The double nearest to numerator / denominator (ties to even, subnormals included), which are decimal
/// integers of any length, possibly signed. Infinity if the quotient rounds beyond the largest double.
ParsedFraction parse_fraction(std::string_view numerator, std::string_view denominator);

/// Appends "numerator,denominator" in lowest terms, exactly the value of x. x must be finite.
void append_fraction(std::string& text, double x);

}  // namespace apart
