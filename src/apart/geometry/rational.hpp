#pragma once
// Exact fractions, and doubles as fractions of integers in text, without loss; the only includer of GMP is
// rational.cpp.
#include <memory>
#include <string>
#include <string_view>

namespace apart {

/// A fraction of integers of any size. Slow: for what rounding leaves undecided.
class Rational {
 public:
  Rational() : Rational(0) {}
  Rational(double value);  // NOLINT: every double is a fraction; must be finite
  Rational(const Rational& other);
  Rational(Rational&& other) noexcept;
  Rational& operator=(const Rational& other);
  Rational& operator=(Rational&& other) noexcept;
  ~Rational();

  Rational& operator+=(const Rational& b);
  Rational& operator-=(const Rational& b);
  Rational& operator*=(const Rational& b);
  Rational& operator/=(const Rational& b);  ///< b must not be 0
  friend Rational operator+(Rational a, const Rational& b) { return a += b; }
  friend Rational operator-(Rational a, const Rational& b) { return a -= b; }
  friend Rational operator*(Rational a, const Rational& b) { return a *= b; }
  friend Rational operator/(Rational a, const Rational& b) { return a /= b; }
  int sign() const;  ///< −1, 0 or 1

 private:
  struct Value;
  std::unique_ptr<Value> value_;
};

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
