#include <apart/core/error.hpp>
#include <apart/geometry/rational.hpp>

#include <gmp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace apart {

namespace {

__extension__ typedef unsigned __int128 UnsignedWide;

/// A decimal integer as text: sign and digits.
struct Decimal {
  bool negative = false;
  std::string_view digits;
};

std::optional<Decimal> decimal(std::string_view text) {
  Decimal d;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    d.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  d.digits = text;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  return d;
}

/// The value, if it has few enough digits for UnsignedWide and is a double exactly.
std::optional<double> small_double(std::string_view digits) {
  constexpr std::size_t most = 38;  // 10³⁸ < 2¹²⁷
  if (digits.size() > most) return std::nullopt;
  std::uint64_t head = 0;
  std::size_t i = 0;
  for (; i < std::min<std::size_t>(digits.size(), 19); ++i) head = 10 * head + std::uint64_t(digits[i] - '0');
  if (i == digits.size()) {
    const double x = double(head);
    // 2⁶⁴ itself cannot be cast back.
    return head <= (std::uint64_t(1) << 53) || (x < 0x1p64 && std::uint64_t(x) == head) ? std::optional(x)
                                                                                        : std::nullopt;
  }
  UnsignedWide value = head;
  for (; i < digits.size(); ++i) value = 10 * value + UnsignedWide(digits[i] - '0');
  const double x = double(value);
  return UnsignedWide(x) == value ? std::optional(x) : std::nullopt;
}

/// An integer of any size.
class BigInteger {
 public:
  BigInteger() { mpz_init(value_); }
  explicit BigInteger(std::string_view digits) { mpz_init_set_str(value_, std::string(digits).c_str(), 10); }
  BigInteger(const BigInteger&) = delete;
  BigInteger& operator=(const BigInteger&) = delete;
  ~BigInteger() { mpz_clear(value_); }

  mpz_ptr get() { return value_; }
  long bits() const { return long(mpz_sizeinbase(value_, 2)); }

 private:
  mpz_t value_;
};

/// numerator / denominator > 0, rounded once.
double divide(BigInteger& numerator, BigInteger& denominator) {
  // A quotient of 66 or 67 bits, and whether anything is left of it, decide every rounding.
  const long shift = 66 - (numerator.bits() - denominator.bits());
  BigInteger quotient, rest;
  if (shift >= 0)
    mpz_mul_2exp(numerator.get(), numerator.get(), mp_bitcnt_t(shift));
  else
    mpz_mul_2exp(denominator.get(), denominator.get(), mp_bitcnt_t(-shift));
  mpz_tdiv_qr(quotient.get(), rest.get(), numerator.get(), denominator.get());
  const bool inexact = mpz_sgn(rest.get()) != 0;
  const long bits = quotient.bits();
  UnsignedWide q = 0;
  for (std::size_t limb = mpz_size(quotient.get()); limb-- > 0;)
    q = (q << 64) | mpz_getlimbn(quotient.get(), mp_size_t(limb));
  // The value is q · 2^−shift; its leading bit counts 2^exponent.
  const long exponent = bits - 1 - shift;
  if (exponent > 1023) return std::numeric_limits<double>::infinity();
  const long precision = std::min(53L, exponent + 1075);  // fewer bits below 2⁻¹⁰²²
  if (precision < 0) return 0;                            // below half of the smallest double
  const long drop = bits - precision;                     // at least 13
  const UnsignedWide unit = UnsignedWide(1) << drop, half = unit >> 1;
  std::uint64_t kept = std::uint64_t(q >> drop);
  const UnsignedWide below = q & (unit - 1);
  if (below > half || (below == half && (inexact || (kept & 1)))) ++kept;
  return std::ldexp(double(kept), int(drop - shift));
}

std::string text_of(UnsignedWide value) {
  char digits[40];
  char* begin = std::end(digits);
  do {
    *--begin = char('0' + int(value % 10));
    value /= 10;
  } while (value != 0);
  return {begin, std::end(digits)};
}

/// factor · 2^exponent in decimal.
std::string power_text(std::uint64_t factor, int exponent) {
  if (exponent + std::bit_width(factor) <= 128) return text_of(UnsignedWide(factor) << exponent);
  BigInteger value;
  mpz_set_ui(value.get(), factor);
  mpz_mul_2exp(value.get(), value.get(), mp_bitcnt_t(exponent));
  std::string text(mpz_sizeinbase(value.get(), 10) + 2, '\0');
  mpz_get_str(text.data(), 10, value.get());
  text.resize(text.find('\0'));
  return text;
}

}  // namespace

struct Rational::Value {
  Value() { mpq_init(q); }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  ~Value() { mpq_clear(q); }
  mpq_t q;
};

Rational::Rational(double value) : value_(std::make_unique<Value>()) {
  ensure(std::isfinite(value), "Rational: not finite");
  mpq_set_d(value_->q, value);
}
Rational::Rational(const Rational& other) : value_(std::make_unique<Value>()) {
  mpq_set(value_->q, other.value_->q);
}
Rational::Rational(Rational&& other) noexcept = default;
Rational& Rational::operator=(const Rational& other) {
  if (this != &other) *this = Rational(other);
  return *this;
}
Rational& Rational::operator=(Rational&& other) noexcept = default;
Rational::~Rational() = default;

Rational& Rational::operator+=(const Rational& b) {
  mpq_add(value_->q, value_->q, b.value_->q);
  return *this;
}
Rational& Rational::operator-=(const Rational& b) {
  mpq_sub(value_->q, value_->q, b.value_->q);
  return *this;
}
Rational& Rational::operator*=(const Rational& b) {
  mpq_mul(value_->q, value_->q, b.value_->q);
  return *this;
}
Rational& Rational::operator/=(const Rational& b) {
  ensure(b.sign() != 0, "Rational: division by zero");
  mpq_div(value_->q, value_->q, b.value_->q);
  return *this;
}
int Rational::sign() const {
  return mpq_sgn(value_->q);
}

ParsedFraction parse_fraction(std::string_view numerator, std::string_view denominator) {
  const auto n = decimal(numerator), d = decimal(denominator);
  if (!n || !d) return {0, FractionFault::not_a_number};
  const double sign = n->negative != d->negative ? -1 : 1;
  // The quotient of two doubles is rounded once by the processor. That is nearly every row of a file:
  // integers of up to 53 bits over powers of two.
  const auto small_n = small_double(n->digits), small_d = small_double(d->digits);
  if (small_d == 0) return {0, FractionFault::zero_denominator};
  if (small_n && small_d) return {sign * (*small_n / *small_d)};
  BigInteger big_n(n->digits), big_d(d->digits);
  if (mpz_sgn(big_d.get()) == 0) return {0, FractionFault::zero_denominator};
  if (mpz_sgn(big_n.get()) == 0) return {0};
  return {sign * divide(big_n, big_d)};
}

void append_fraction(std::string& text, double x) {
  ensure(std::isfinite(x), "append_fraction: not finite");
  if (x == 0) {
    text += "0,1";
    return;
  }
  int exponent = 0;
  auto mantissa = std::uint64_t(std::ldexp(std::frexp(std::abs(x), &exponent), 53));
  exponent -= 53;
  const int zeros = std::countr_zero(mantissa);
  mantissa >>= zeros;
  exponent += zeros;
  if (x < 0) text += '-';
  text += power_text(mantissa, std::max(exponent, 0));
  text += ',';
  text += power_text(1, std::max(-exponent, 0));
}

}  // namespace apart
