#include <apart/math/svd.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <Eigen/LU>

#include <cstring>
#include <random>

namespace apart::test {
namespace {

void expect_signed_svd(const Matrix3& f, const char* what) {
  SCOPED_TRACE(what);
  const SignedSvd s = signed_svd(f);
  const double size = std::max(f.norm(), 1e-300);
  EXPECT_LT((s.u * s.sigma.asDiagonal() * s.v.transpose() - f).norm(), 4e-15 * size);
  for (const Matrix3* r : {&s.u, &s.v}) {
    EXPECT_LT((r->transpose() * *r - Matrix3::Identity()).norm(), 4e-15);
    EXPECT_NEAR(r->determinant(), 1, 4e-15);
  }
  EXPECT_GE(s.sigma[0], s.sigma[1] - 1e-15 * size);
  EXPECT_GE(s.sigma[1], std::abs(s.sigma[2]) - 1e-15 * size);
  EXPECT_GE(s.sigma[1], 0);
  const double det = f.determinant();
  if (std::abs(det) > 1e-12 * size * size * size) {
    EXPECT_GT(det * s.sigma[2], 0) << "the last singular value carries the sign";
  }
}

TEST(SignedSvd, OfRandomMatrices) {
  std::mt19937 engine(1);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 2000; ++i) {
    const Matrix3 f = Matrix3::NullaryExpr([&] { return normal(engine); });
    expect_signed_svd(f, "random");
    expect_signed_svd(f * 1e-50, "tiny");
    expect_signed_svd(f * 1e50, "huge");
  }
}

TEST(SignedSvd, OfDegenerateMatrices) {
  expect_signed_svd(Matrix3::Zero(), "zero");
  expect_signed_svd(Matrix3::Identity(), "identity");
  expect_signed_svd(-Matrix3::Identity(), "point reflection");
  expect_signed_svd(Vector3(1, 2, 3) * Vector3(-1, 0.5, 2).transpose(), "rank one");
  expect_signed_svd(Vector3(2, 2, 0).asDiagonal(), "rank two");
  expect_signed_svd(Vector3(1, 1, -1).asDiagonal(), "mirror");
  expect_signed_svd(Vector3(1e8, 1, 1e-8).asDiagonal(), "wide range");
  expect_signed_svd(Eigen::AngleAxisd(EIGEN_PI, Vector3(1, 1, 0).normalized()).toRotationMatrix(),
                    "half turn");
}

TEST(SignedSvd, FindsSmallSingularValuesToRelativeAccuracy) {
  const Matrix3 u = Eigen::AngleAxisd(0.7, Vector3(1, 2, 3).normalized()).toRotationMatrix();
  const Matrix3 v = Eigen::AngleAxisd(1.9, Vector3(-1, 1, 2).normalized()).toRotationMatrix();
  const Vector3 sigma(1, 1e-3, 1e-6);
  const SignedSvd s = signed_svd(u * sigma.asDiagonal() * v.transpose());
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(s.sigma[i], sigma[i], 1e-15);
}

TEST(SignedSvd, OfManyMatricesHasTheBitsOfEachAlone) {
  std::mt19937 engine(2);
  std::normal_distribution<double> normal;
  std::vector<Matrix3> f = {Matrix3::Zero(),
                            Matrix3::Identity(),
                            -Matrix3::Identity(),
                            Vector3(1, 2, 3) * Vector3(1, 0, 2).transpose(),
                            Vector3(2, 2, 0).asDiagonal(),
                            Matrix3::Constant(std::numeric_limits<double>::quiet_NaN())};
  for (int i = 0; i < 1000; ++i) {
    const Matrix3 random = Matrix3::NullaryExpr([&] { return normal(engine); });
    f.push_back(i % 3 == 0 ? random : Matrix3(Matrix3::Identity() + std::pow(10, -i % 17) * random));
  }
  for (const std::size_t count : {f.size(), std::size_t(7), std::size_t(1), std::size_t(0)}) {
    std::vector<SignedSvd> together(count);
    signed_svds(std::span(f).first(count), together);
    for (std::size_t i = 0; i < count; ++i) {
      const SignedSvd alone = signed_svd(f[i]);
      EXPECT_EQ(std::memcmp(alone.u.data(), together[i].u.data(), sizeof(Matrix3)), 0) << i;
      EXPECT_EQ(std::memcmp(alone.v.data(), together[i].v.data(), sizeof(Matrix3)), 0) << i;
      EXPECT_EQ(std::memcmp(alone.sigma.data(), together[i].sigma.data(), sizeof(Vector3)), 0) << i;
    }
  }
}

}  // namespace
}  // namespace apart::test
