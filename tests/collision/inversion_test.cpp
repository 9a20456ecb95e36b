#include "random_surface.hpp"

#include <gtest/gtest.h>
#include <apart/collision/inversion.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/exact_intersection.hpp>

#include <limits>

namespace apart::test {
namespace {

/// Six times the volume at time t, in extended precision.
long double volume_at(const Eigen::Vector4i& tet, const Matrix3X& x, const Matrix3X& p, double t) {
  using Long = Eigen::Matrix<long double, 3, 1>;
  Long v[4];
  for (int k = 0; k < 4; ++k)
    v[k] = x.col(tet[k]).cast<long double>() + (long double)(t)*p.col(tet[k]).cast<long double>();
  return (v[1] - v[0]).cross(v[2] - v[0]).dot(v[3] - v[0]);
}

/// Shares of the volume are kept until α, and no longer: α is the first time at which one is lost, within a
/// promille.
void expect_first_loss(const Tetrahedra& tets, const Matrix3X& x, const Matrix3X& p, double shrink,
                       double alpha) {
  const auto least = [&](double t) {
    long double share = 2;
    for (Index e = 0; e < tets.cols(); ++e) {
      const Eigen::Vector4i tet = tets.col(e);
      share = std::min(share, volume_at(tet, x, p, t) / volume_at(tet, x, p, 0));
    }
    return double(share);
  };
  for (int k = 0; k <= 500; ++k)
    ASSERT_GE(least(alpha * k / 500), (1 - shrink) * (1 - 1e-9)) << alpha * k / 500;
  if (alpha == 1) return;
  double after = 2;
  for (int k = 0; k <= 20; ++k) after = std::min(after, least(alpha * (1 + 1e-4 * k)));
  EXPECT_LE(after, (1 - shrink) * (1 + 1e-3));
}

TEST(InversionFreeStep, KeepsTheShareOfTheVolumeAndNoMore) {
  Random random(13);
  Tetrahedra tets(4, 3);
  tets << 0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4;
  int bounded = 0;
  for (int trial = 0; trial < 500; ++trial) {
    Matrix3X x = Matrix3X::Random(3, 5);
    for (Index e = 0; e < 3; ++e)
      if (volume_at(tets.col(e), x, x, 0) < 0) std::swap(tets(0, e), tets(1, e));
    const Matrix3X p = random.exponential(1e-3, 1e3) * Matrix3X::Random(3, 5);
    const double shrink = trial % 2 ? 0.8 : 0.3;
    const double alpha = inversion_free_step(tets, x, p, shrink);
    expect_first_loss(tets, x, p, shrink, alpha);
    bounded += alpha < 1;
  }
  EXPECT_GT(bounded, 100);
}

TEST(InversionFreeStep, HandlesDegenerateCubics) {
  const Tetrahedra tet = Eigen::Vector4i(0, 1, 2, 3);
  Matrix3X x(3, 4);
  x << 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1;
  const auto step = [&](const Matrix3X& p) { return inversion_free_step(tet, x, p); };
  EXPECT_EQ(step(Matrix3X::Zero(3, 4)), 1) << "no motion";
  EXPECT_EQ(step(Vector3(1e5, -3, 2).replicate(1, 4)), 1) << "translation";
  EXPECT_EQ(step(x), 1) << "growth";
  // Linear: one vertex to the opposite face and beyond. 1 − t/0.5 = 0.2
  Matrix3X p = Matrix3X::Zero(3, 4);
  p(2, 3) = -2;
  EXPECT_NEAR(step(p), 0.4, 1e-5);
  p(2, 3) = -0.8;
  EXPECT_NEAR(step(p), 1, 1e-5);
  p(2, 3) = -0.79;
  EXPECT_EQ(step(p), 1);
  // Quadratic with a double root: two axes collapse together, (1 − 2t)², touching 0 at ½ and growing again.
  p = Matrix3X::Zero(3, 4);
  p(0, 1) = p(1, 2) = -2;
  EXPECT_NEAR(step(p), (1 - std::sqrt(0.2)) / 2, 1e-5);
  // Cubic with a triple root: (1 − 2t)³.
  p = -2 * x;
  EXPECT_NEAR(step(p), (1 - std::cbrt(0.2)) / 2, 1e-5);
  // A double root of the shrunk volume itself: V = 1 − 3.2 t (1 − t) dips to 0.2 at ½ and recovers.
  x.col(0).setZero();
  p = Matrix3X::Zero(3, 4);
  p(0, 1) = 1;      // (1 + t) …
  p(1, 2) = -0.75;  // … (1 − 0.75 t), at least 0.5
  EXPECT_EQ(step(p), 1) << "never below the share";
  // Rigid rotation by half a turn, seen as straight paths: flattens at ½.
  p = Matrix3X::Zero(3, 4);
  p.row(0) = -2 * x.row(0);
  p.row(1) = -2 * x.row(1);
  EXPECT_NEAR(step(p), (1 - std::sqrt(0.2)) / 2, 1e-5);
}

TEST(InversionFreeStep, ExtremeInputIsSafe) {
  Random random(14);
  const Tetrahedra tet = Eigen::Vector4i(0, 1, 2, 3);
  Matrix3X x(3, 4);
  x << 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1;
  // Inverted, flat, not a number.
  Matrix3X bad = x;
  bad.col(1).swap(bad.col(2));
  EXPECT_EQ(inversion_free_step(tet, bad, Matrix3X::Zero(3, 4)), 0);
  bad = x;
  bad(2, 3) = 0;
  EXPECT_EQ(inversion_free_step(tet, bad, Matrix3X::Zero(3, 4)), 0);
  bad(2, 3) = std::nan("");
  EXPECT_EQ(inversion_free_step(tet, bad, Matrix3X::Zero(3, 4)), 0);
  Matrix3X p = Matrix3X::Zero(3, 4);
  p(0, 0) = infinity;
  EXPECT_EQ(inversion_free_step(tet, x, p), 0);
  p(0, 0) = std::nan("");
  EXPECT_EQ(inversion_free_step(tet, x, p), 0);
  EXPECT_EQ(inversion_free_step(Tetrahedra(4, 0), x, p), 1) << "nothing to invert";
  // Flat tetrahedra far away under long steps: positive volume at the rounded end, whatever happens.
  for (int trial = 0; trial < 2000; ++trial) {
    Matrix3X y = x;
    y.row(2) *= random.exponential(1e-12, 1);
    y.colwise() += random.exponential(1e-3, 1e3) * random.vector();
    p = random.exponential(1e-9, 1e9) * Matrix3X::Random(3, 4);
    std::array<exact::Path, 4> start;
    for (int k = 0; k < 4; ++k) start[k] = {y.col(k), y.col(k)};
    if (exact::volume_signs(start, 0, 0)[0] <= 0) continue;
    const double alpha = inversion_free_step(tet, y, p);
    const Matrix3X z = y + alpha * p;
    std::array<exact::Path, 4> paths;
    for (int k = 0; k < 4; ++k) paths[k] = {y.col(k), z.col(k)};
    for (int k = 0; k < 16; ++k) {
      const auto signs = exact::volume_signs(paths, k / 16.0, (k + 1) / 16.0);
      ASSERT_TRUE(signs[0] > 0 && signs[3] > 0) << "of the exact volume, at the ends of an interval";
    }
  }
}

TEST(InversionFreeStep, IsTheSameForAnyNumberOfThreads) {
  Random random(15);
  const int n = 3000;
  Tetrahedra tets(4, n);
  Matrix3X x(3, 4 * n);
  for (int t = 0; t < n; ++t) {
    tets.col(t) << 4 * t, 4 * t + 1, 4 * t + 2, 4 * t + 3;
    Matrix3X y = Matrix3X::Random(3, 4);
    if (signed_volume6(y.col(0), y.col(1), y.col(2), y.col(3)) < 0) y.col(0).swap(y.col(1));
    x.middleCols(4 * t, 4) = y;
  }
  const Matrix3X p = 1e-3 * Matrix3X::Random(3, 4 * n);
  set_thread_count(1);
  const double one = inversion_free_step(tets, x, p);
  EXPECT_LT(one, 1);
  for (int threads : {2, 4}) {
    set_thread_count(threads);
    EXPECT_EQ(inversion_free_step(tets, x, p), one);
  }
  set_thread_count(1);
}

}  // namespace
}  // namespace apart::test
