#pragma once
#include <apart/core/types.hpp>

#include <cmath>
#include <random>

namespace apart::test {

/// Random numbers and directions; the same from the same seed.
struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  std::mt19937 engine;
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  }
  double exponential(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine); }
  Vector3 vector() { return {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)}; }
  Vector3 unit() {
    Vector3 v = vector();
    while (v.norm() < 0.1 || v.norm() > 1) v = vector();
    return v.normalized();
  }
};

/// Points in the cube [−scale, scale]³.
inline Matrix3X random_points(Index n, unsigned seed, double scale = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> u(-scale, scale);
  Matrix3X x(3, n);
  for (Eigen::Index k = 0; k < x.size(); ++k) x(k) = u(engine);
  return x;
}

}  // namespace apart::test
