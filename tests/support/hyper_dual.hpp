#pragma once
// Derivatives without differences: forward-mode automatic differentiation by hyper-dual numbers
// v + a ε₁ + b ε₂ + c ε₁ε₂ with ε₁² = ε₂² = 0. Whatever function is evaluated with x + ε₁ + ε₂ for x, the
// result holds f, f′, f′ and f″, exact up to rounding.
#include <apart/core/types.hpp>

#include <cmath>

namespace apart::test {

struct HyperDual {
  double v = 0, a = 0, b = 0, c = 0;
  HyperDual() = default;
  HyperDual(double value) : v(value) {}  // NOLINT: constants are numbers
  HyperDual(double value, double first, double second, double mixed)
      : v(value), a(first), b(second), c(mixed) {}

  friend HyperDual operator+(const HyperDual& x, const HyperDual& y) {
    return {x.v + y.v, x.a + y.a, x.b + y.b, x.c + y.c};
  }
  friend HyperDual operator-(const HyperDual& x, const HyperDual& y) {
    return {x.v - y.v, x.a - y.a, x.b - y.b, x.c - y.c};
  }
  friend HyperDual operator*(const HyperDual& x, const HyperDual& y) {
    return {x.v * y.v, x.a * y.v + x.v * y.a, x.b * y.v + x.v * y.b,
            x.c * y.v + x.a * y.b + x.b * y.a + x.v * y.c};
  }
  friend HyperDual operator/(const HyperDual& x, const HyperDual& y) {
    const double i = 1 / y.v;
    return x * chain(y, i, -i * i, 2 * i * i * i);
  }
  HyperDual operator-() const { return {-v, -a, -b, -c}; }
  HyperDual& operator+=(const HyperDual& y) { return *this = *this + y; }
  HyperDual& operator-=(const HyperDual& y) { return *this = *this - y; }
  HyperDual& operator*=(const HyperDual& y) { return *this = *this * y; }
  HyperDual& operator/=(const HyperDual& y) { return *this = *this / y; }

  /// f(x) of a function with these values of f, f′ and f″ at x.v.
  static HyperDual chain(const HyperDual& x, double f, double slope, double curvature) {
    return {f, slope * x.a, slope * x.b, slope * x.c + curvature * x.a * x.b};
  }
  friend HyperDual log(const HyperDual& x) { return chain(x, std::log(x.v), 1 / x.v, -1 / (x.v * x.v)); }
  friend HyperDual sqrt(const HyperDual& x) {
    const double r = std::sqrt(x.v);
    return chain(x, r, 0.5 / r, -0.25 / (r * x.v));
  }
  friend HyperDual pow(const HyperDual& x, double n) {
    return chain(x, std::pow(x.v, n), n * std::pow(x.v, n - 1), n * (n - 1) * std::pow(x.v, n - 2));
  }
  friend HyperDual square(const HyperDual& x) { return x * x; }
};

template <int rows, int columns>
using DualMatrix = Eigen::Matrix<HyperDual, rows, columns>;

/// Value and derivatives of a function of a matrix, whose entries are flattened by columns.
template <int rows, int columns>
struct Derivatives {
  static constexpr int size = rows * columns;
  double value = 0;
  Eigen::Matrix<double, rows, columns> first;
  Eigen::Matrix<double, size, size> second;
};
template <int rows, int columns, class Function>
Derivatives<rows, columns> differentiate(const Function& f, const Eigen::Matrix<double, rows, columns>& x) {
  Derivatives<rows, columns> d;
  for (int k = 0; k < d.size; ++k)
    for (int l = 0; l <= k; ++l) {
      DualMatrix<rows, columns> dual = x.template cast<HyperDual>();
      dual(k).a = 1;
      dual(l).b = 1;
      const HyperDual y = f(dual);
      d.value = y.v;
      d.first(k) = y.a;
      d.second(k, l) = d.second(l, k) = y.c;
    }
  return d;
}

}  // namespace apart::test

template <>
struct Eigen::NumTraits<apart::test::HyperDual> : Eigen::GenericNumTraits<double> {
  using Real = apart::test::HyperDual;
  using NonInteger = apart::test::HyperDual;
  using Nested = apart::test::HyperDual;
  enum { RequireInitialization = 1, ReadCost = 4, AddCost = 4, MulCost = 9 };
};
