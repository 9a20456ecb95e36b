#include <apart/core/error.hpp>
#include <apart/scene/expression.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace apart::test {
namespace {

std::string expression_error(std::string_view text) {
  try {
    const Expression expression(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Expression, ComputesWhatItSays) {
  const double x = 0.3, y = -1.7, z = 2.5, t = 0.125;
  const struct {
    std::string_view text;
    double value;
  } cases[] = {
      {"1+2*3", 7},
      {"(1+2)*3", 9},
      {"2^3^2", 512},
      {"-2^2", -4},
      {"2^-1", 0.5},
      {"8/4/2", 1},
      {"7-4-2", 1},
      {"--3", 3},
      {"1e-3*1E3", 1},
      {".5", 0.5},
      {"x*y+z/t", x * y + z / t},
      {"pi*e", std::numbers::pi * std::numbers::e},
      {"0.1*sin(2*pi*t)", 0.1 * std::sin(2 * std::numbers::pi * t)},
      {"min(x, max(y, z))", x},
      {"mod(-1, 3)", 2},
      {"atan2(1, -1)", std::atan2(1, -1)},
      {"sqrt(abs(y)) + floor(z) + ceil(x)", std::sqrt(1.7) + 2 + 1},
      {"step(t-0.1)*10", 10},
      {"sign(y)", -1},
      {"x < 0.4 && y > -2", 1},
      {"x < 0.2 || y >= 0", 0},
      {"!(x == 0.3) || z != 2.5", 0},
      {"x<=0.3", 1},
      {"1 < 2 == 1", 1},
      {"x < 1 && y < 1 || 0", 1},
  };
  for (const auto& c : cases) EXPECT_DOUBLE_EQ(Expression(c.text)(x, y, z, t), c.value) << c.text;
  EXPECT_EQ(Expression(4.5)(x, y, z, t), 4.5);
}

TEST(Expression, KnowsItsVariables) {
  const Expression e("x*sin(t)");
  EXPECT_TRUE(e.uses('x'));
  EXPECT_TRUE(e.uses('t'));
  EXPECT_FALSE(e.uses('y'));
}

TEST(Expression, RefusesWithPositionAndRemedy) {
  const struct {
    std::string_view text, part;
  } cases[] = {
      {"", "a value is missing at character 1"},
      {"1 +", "a value is missing at character 4"},
      {"(1 + 2", "')' is missing at character 7"},
      {"1 + 2)", "unexpected ')' at character 6"},
      {"2 x", "unexpected 'x' at character 3"},
      {"sin t", "'(' is missing at character 5"},
      {"min(1)", "',' is missing at character 6"},
      {"sin(1, 2)", "')' is missing at character 6"},
      {"foo(1)", "unknown name 'foo' at character 1; known are x, y, z, t, pi, e and abs"},
      {"w + 1", "unknown name 'w'"},
      {"1 & 2", "unexpected '&' at character 3"},
      {"x = 1", "unexpected '=' at character 3"},
      {"1e999", "no double can hold"},
      {"$", "unexpected '$' at character 1"},
  };
  for (const auto& c : cases)
    EXPECT_NE(expression_error(c.text).find(c.part), std::string::npos)
        << c.text << "\n  " << expression_error(c.text);
}

TEST(Expression, HostileTextIsRefusedNotCrashed) {
  EXPECT_NE(expression_error(std::string(5000, '(')).find("too many nested"), std::string::npos);
  EXPECT_NE(expression_error(std::string(5000, '-') + "1").find("too many nested"), std::string::npos);
  EXPECT_NE(expression_error(std::string(100000, '1')).find("characters"), std::string::npos);
  std::string tower = "1";
  for (int i = 0; i < 200; ++i) tower += "^(1";
  EXPECT_NE(expression_error(tower).find("too many nested"), std::string::npos);
  std::string sum = "1";
  for (int i = 0; i < 4000; ++i) sum += "+1";
  EXPECT_EQ(Expression(sum)(0, 0, 0, 0), 4001);  // long but flat

  const std::string_view alphabet = "xyzt0123.()+-*/^<>=!&|, sincoabe";
  std::mt19937 random(3);
  int accepted = 0;
  for (int i = 0; i < 50000; ++i) {
    std::string text;
    for (unsigned n = random() % 12; n > 0; --n) text += alphabet[random() % alphabet.size()];
    if (expression_error(text) != "accepted") continue;
    ++accepted;
    const Expression expression(text);
    expression(1, 2, 3, 4);
  }
  EXPECT_GT(accepted, 100);
}

TEST(Expression, ACurveIsLinearBetweenItsPointsAndConstantBeyond) {
  const Expression curve(std::vector<std::array<double, 2>>{{1, 10}, {2, 20}, {4, 0}});
  const std::pair<double, double> values[] = {{0, 10}, {1, 10}, {1.25, 12.5}, {2, 20},
                                              {3, 10}, {4, 0},  {9, 0}};
  for (const auto& [t, value] : values) EXPECT_DOUBLE_EQ(curve(5, 6, 7, t), value) << t;
  EXPECT_TRUE(curve.uses('t'));
  EXPECT_FALSE(curve.uses('x'));
  EXPECT_EQ(Expression(std::vector<std::array<double, 2>>{{3, 7}})(0, 0, 0, 5), 7);
}

}  // namespace
}  // namespace apart::test
