// Fractions of integers become the nearest double, and doubles become fractions without loss.
#include <apart/geometry/rational.hpp>

#include <gmp.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace apart::test {
namespace {

/// An exact rational, only for comparing.
class Fraction {
 public:
  Fraction() { mpq_init(value_); }
  explicit Fraction(double x) : Fraction() { mpq_set_d(value_, x); }
  Fraction(const std::string& numerator, const std::string& denominator) : Fraction() {
    mpq_set_str(value_, (numerator + "/" + denominator).c_str(), 10);
    mpq_canonicalize(value_);
  }
  Fraction(const Fraction&) = delete;
  Fraction& operator=(const Fraction&) = delete;
  ~Fraction() { mpq_clear(value_); }
  mpq_ptr get() { return value_; }
  int compare(Fraction& other) { return mpq_cmp(value_, other.value_); }

 private:
  mpq_t value_;
};

/// Whether x is the nearest double to the fraction, ties to even.
bool is_nearest(double x, const std::string& numerator, const std::string& denominator) {
  Fraction exact(numerator, denominator);
  for (const double side : {-1.0, 1.0}) {
    const double next = std::nextafter(x, side * std::numeric_limits<double>::infinity());
    if (!std::isfinite(next)) continue;
    Fraction middle, at(x), beside(next);
    mpq_add(middle.get(), at.get(), beside.get());
    mpq_div_2exp(middle.get(), middle.get(), 1);
    const int beyond = exact.compare(middle) * int(side);
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    if (beyond > 0 || (beyond == 0 && (bits & 1))) return false;
  }
  return true;
}

std::string random_digits(std::mt19937_64& random, int most) {
  std::string text(1, char('1' + random() % 9));
  for (auto n = random() % std::uint64_t(most); n > 0; --n) text += char('0' + random() % 10);
  return text;
}

std::string power_of_two(unsigned exponent, long add = 0) {
  mpz_t value;
  mpz_init(value);
  mpz_ui_pow_ui(value, 2, exponent);
  if (add >= 0)
    mpz_add_ui(value, value, (unsigned long)add);
  else
    mpz_sub_ui(value, value, (unsigned long)-add);
  std::string text(mpz_sizeinbase(value, 10) + 2, '\0');
  mpz_get_str(text.data(), 10, value);
  mpz_clear(value);
  text.resize(text.find('\0'));
  return text;
}

double value_of(const std::string& numerator, const std::string& denominator) {
  const auto parsed = parse_fraction(numerator, denominator);
  EXPECT_EQ(parsed.fault, FractionFault::none) << numerator << "/" << denominator;
  return parsed.value;
}

TEST(Fraction, SmallOnesAreWhatTheyAre) {
  EXPECT_EQ(value_of("0", "1"), 0);
  EXPECT_EQ(value_of("-1", "2"), -0.5);
  EXPECT_EQ(value_of("+3", "-4"), -0.75);
  EXPECT_EQ(value_of("-3", "-4"), 0.75);
  EXPECT_EQ(value_of("1", "3"), 1.0 / 3);
  EXPECT_EQ(value_of("00012", "0004"), 3);
  EXPECT_EQ(value_of("6004799503160661", "36028797018963968"), 6004799503160661.0 / 36028797018963968.0);
}

TEST(Fraction, OfAnyLengthAreRoundedToTheNearestDouble) {
  std::mt19937_64 random(1);
  for (int most : {5, 17, 22, 38, 45, 120, 340})
    for (int i = 0; i < 400; ++i) {
      const std::string n = random_digits(random, most), d = random_digits(random, most);
      const double x = value_of(n, d);
      if (!std::isfinite(x) || x == 0) continue;
      EXPECT_TRUE(is_nearest(x, n, d)) << n << "/" << d << " became " << x;
      EXPECT_EQ(value_of("-" + n, d), -x);
    }
}

TEST(Fraction, TiesGoToEvenAndOneMoreDecides) {
  // 2⁵³ + 1 lies in the middle of two doubles; 2⁵³ is the even one, 2⁵³ + 3 goes up to 2⁵³ + 4.
  EXPECT_EQ(value_of(power_of_two(53, 1), "1"), 0x1p53);
  EXPECT_EQ(value_of(power_of_two(53, 3), "1"), 0x1p53 + 4);
  for (const unsigned digits : {70u, 200u, 1000u}) {
    const std::string scale = power_of_two(digits);
    mpz_t n;
    mpz_init_set_str(n, power_of_two(53, 1).c_str(), 10);
    mpz_mul_2exp(n, n, digits);
    for (const int more : {-1, 0, 1}) {
      mpz_t moved;
      mpz_init_set(moved, n);
      if (more > 0) mpz_add_ui(moved, moved, 1);
      if (more < 0) mpz_sub_ui(moved, moved, 1);
      std::string text(mpz_sizeinbase(moved, 10) + 2, '\0');
      mpz_get_str(text.data(), 10, moved);
      text.resize(text.find('\0'));
      EXPECT_EQ(value_of(text, scale), more > 0 ? 0x1p53 + 2 : 0x1p53) << digits << " " << more;
      mpz_clear(moved);
    }
    mpz_clear(n);
  }
}

TEST(Fraction, SubnormalsAreRoundedOnce) {
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(value_of("1", power_of_two(1074)), least);
  EXPECT_EQ(value_of("1", power_of_two(1075)), 0) << "a tie goes to the even 0";
  EXPECT_EQ(value_of("3", power_of_two(1075)), 2 * least) << "1.5 goes to the even 2";
  EXPECT_EQ(value_of("1", power_of_two(1075, -1)), least) << "just above the half";
  EXPECT_EQ(value_of("1", power_of_two(1075, 1)), 0) << "just below the half";
  EXPECT_EQ(value_of("1", power_of_two(5000)), 0);
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000; ++i) {
    const std::string n = std::to_string(random() >> (random() % 60)), d = power_of_two(1020 + random() % 90);
    const double x = value_of(n, d);
    if (x > 0) {
      EXPECT_TRUE(is_nearest(x, n, d)) << n << "/" << d;
    }
  }
}

TEST(Fraction, BeyondTheLargestDoubleIsInfinite) {
  const double largest = std::numeric_limits<double>::max();
  const std::string unit = power_of_two(970);  // of the last place of the largest double is 2⁹⁷¹
  EXPECT_EQ(value_of(power_of_two(1024), "1"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(value_of("-" + power_of_two(2000), "7"), -std::numeric_limits<double>::infinity());
  mpz_t edge, step;
  mpz_init_set_str(edge, power_of_two(1024).c_str(), 10);
  mpz_init_set_str(step, unit.c_str(), 10);
  mpz_sub(edge, edge, step);  // the middle between the largest double and 2¹⁰²⁴
  std::string text(400, '\0');
  mpz_get_str(text.data(), 10, edge);
  text.resize(text.find('\0'));
  EXPECT_EQ(value_of(text, "1"), std::numeric_limits<double>::infinity());
  mpz_sub_ui(edge, edge, 1);
  text.assign(400, '\0');
  mpz_get_str(text.data(), 10, edge);
  text.resize(text.find('\0'));
  EXPECT_EQ(value_of(text, "1"), largest);
  mpz_clear(edge);
  mpz_clear(step);
}

TEST(Fraction, WhatIsNoneIsNamed) {
  for (const auto& [n, d] : {std::pair("", "1"),
                             {"1", ""},
                             {"1.5", "1"},
                             {"1e3", "1"},
                             {"-", "1"},
                             {"--1", "1"},
                             {"1", "x"},
                             {"0x10", "1"},
                             {"1 2", "1"},
                             {"nan", "1"}})
    EXPECT_EQ(parse_fraction(n, d).fault, FractionFault::not_a_number) << n << "/" << d;
  EXPECT_EQ(parse_fraction("1", "0").fault, FractionFault::zero_denominator);
  EXPECT_EQ(parse_fraction("1", std::string(60, '0')).fault, FractionFault::zero_denominator);
  EXPECT_EQ(parse_fraction("0", "-0").fault, FractionFault::zero_denominator);
}

TEST(Fraction, EveryDoubleSurvivesBeingWrittenAndRead) {
  std::mt19937_64 random(3);
  const auto check = [](double x) {
    std::string text;
    apart::append_fraction(text, x);
    const std::size_t comma = text.find(',');
    ASSERT_NE(comma, text.npos);
    EXPECT_EQ(value_of(text.substr(0, comma), text.substr(comma + 1)), x) << text;
  };
  for (const double x :
       {0.0, 1.0, -1.0, 0.1, std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
        std::numeric_limits<double>::denorm_min(), 0x1.fffffffffffffp-1, 0x1p75, 0x1.8p127})
    check(x);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    double x;
    std::memcpy(&x, &bits, sizeof x);
    if (std::isfinite(x)) check(x);
  }
}

TEST(Rational, ComputesWithoutRounding) {
  // Doubles lose the squares: ((1 + x)(1 − x) − 1) / x² = −1 for any x.
  for (const double x : {0x1p-300, 0.1, 1e200}) {
    const Rational one(1), a(x);
    EXPECT_EQ((((one + a) * (one - a) - one) / (a * a) + one).sign(), 0) << x;
  }
  EXPECT_EQ((Rational(1) / Rational(3) - Rational(1.0 / 3)).sign(), 1) << "the double is smaller";
  EXPECT_EQ((Rational(0.1) - Rational(1) / Rational(10)).sign(), 1) << "the double is larger";
  Rational copied = Rational(2), kept = copied;
  copied -= Rational(5);
  EXPECT_EQ(copied.sign(), -1);
  EXPECT_EQ((kept - Rational(2)).sign(), 0) << "a copy has its own value";
}

}  // namespace
}  // namespace apart::test
