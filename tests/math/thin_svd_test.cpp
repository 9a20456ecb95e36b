#include <apart/math/svd.hpp>

#include <gtest/gtest.h>
#include <Eigen/LU>

#include <cmath>
#include <random>

namespace apart::test {
namespace {

using Matrix32 = Eigen::Matrix<double, 3, 2>;

void expect_svd(const Matrix32& f) {
  const ThinSvd s = thin_svd(f);
  EXPECT_LT((s.u.transpose() * s.u - Matrix3::Identity()).norm(), 1e-14);
  EXPECT_LT((s.v.transpose() * s.v - Eigen::Matrix2d::Identity()).norm(), 1e-14);
  EXPECT_NEAR(s.u.determinant(), 1, 1e-14);
  EXPECT_NEAR(s.v.determinant(), 1, 1e-14);
  EXPECT_GE(s.sigma[0], s.sigma[1]);
  EXPECT_GE(s.sigma[1], 0);
  const Matrix32 again = s.u.leftCols<2>() * s.sigma.asDiagonal() * s.v.transpose();
  EXPECT_LT((again - f).norm(), 4e-15 * f.norm() + 1e-300);
}

TEST(ThinSvd, ReproducesTheMatrixWithRotations) {
  std::mt19937 engine(1);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 1000; ++trial) {
    Matrix32 f;
    for (Eigen::Index k = 0; k < 6; ++k) f(k) = normal(engine);
    if (trial % 3 == 1) f.col(1) = f.col(0) * normal(engine) + 1e-9 * f.col(1);
    if (trial % 3 == 2) f *= std::pow(10.0, 20 * normal(engine));
    expect_svd(f);
  }
}

TEST(ThinSvd, IsTotal) {
  Matrix32 f = Matrix32::Zero();
  expect_svd(f);
  f.col(1) = Vector3(0, 2, 0);
  expect_svd(f);
  f.col(0) = Vector3(0, 2, 0);
  expect_svd(f);
  f << 1, 0, 0, 1, 0, 0;
  expect_svd(f);
  EXPECT_EQ(thin_svd(f).sigma, Eigen::Vector2d(1, 1));
}

}  // namespace
}  // namespace apart::test
