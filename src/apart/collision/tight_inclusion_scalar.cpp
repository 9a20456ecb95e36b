// Compiled without vectorisation, to compare tight_inclusion.cpp with, in answers and in speed.
#include <apart/collision/ccd_methods.hpp>
#include <apart/collision/tight_inclusion_search.hpp>

namespace apart {

namespace {

struct ScalarOperations {
  struct Lanes {
    double v[4];
    friend Lanes operator+(const Lanes& a, const Lanes& b) {
      return each([&](int i) { return a.v[i] + b.v[i]; });
    }
    friend Lanes operator-(const Lanes& a, const Lanes& b) {
      return each([&](int i) { return a.v[i] - b.v[i]; });
    }
    friend Lanes operator*(const Lanes& a, const Lanes& b) {
      return each([&](int i) { return a.v[i] * b.v[i]; });
    }
    friend Lanes operator*(double a, const Lanes& b) {
      return each([&](int i) { return a * b.v[i]; });
    }
  };
  template <class F>
  [[gnu::always_inline]] static Lanes each(F&& f) {
    return {{f(0), f(1), f(2), f(3)}};
  }
  static Lanes of(double x, double y, double z, double w) { return {{x, y, z, w}}; }
  static Lanes min(const Lanes& a, const Lanes& b) {
    return each([&](int i) { return b.v[i] < a.v[i] ? b.v[i] : a.v[i]; });
  }
  static Lanes max(const Lanes& a, const Lanes& b) {
    return each([&](int i) { return a.v[i] < b.v[i] ? b.v[i] : a.v[i]; });
  }
  static Lanes abs(const Lanes& a) {
    return each([&](int i) { return std::abs(a.v[i]); });
  }
  /// Four bits, all set if all numbers are negative.
  static unsigned negative(const Lanes& a) {
    return a.v[0] < 0 && a.v[1] < 0 && a.v[2] < 0 && a.v[3] < 0 ? 15 : 0;
  }
  static double first_three_sum(const Lanes& a) { return a.v[0] + a.v[1] + a.v[2]; }
};

}  // namespace

std::optional<double> tight_inclusion_ccd_scalar(const CcdQuery& query, const CcdOptions& options) {
  thread_local TightInclusion<ScalarOperations> method;
  return method.run(query, options);
}

}  // namespace apart
