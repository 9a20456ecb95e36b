#include <apart/geometry/dihedral_angle.hpp>

#include <gtest/gtest.h>
#include <support/finite_difference.hpp>
#include <support/stencil_matrix.hpp>

#include <cmath>
#include <numbers>
#include <random>

namespace apart::test {
namespace {

/// A hinge of length 1 whose triangles have the given heights, the second turned up by `angle`.
Matrix3X hinge(double angle, double height1 = 1, double height2 = 1) {
  Matrix3X x(3, 4);
  x.col(0) = Vector3(0, 0, 0);
  x.col(1) = Vector3(1, 0, 0);
  x.col(2) = Vector3(0.3, height1, 0);
  x.col(3) = Vector3(0.6, -height2 * std::cos(angle), height2 * std::sin(angle));
  return x;
}

Matrix3X gradient(const Matrix3X& x) {
  const Dihedral d = make_dihedral(stencil_points(x));
  Matrix3X g(3, 4);
  for (int k = 0; k < 4; ++k) g.col(k) = d.gradient(k);
  return g;
}

TEST(DihedralAngle, IsTheAngleOfAFoldedPair) {
  for (double angle = -3.1; angle < 3.14; angle += 0.1)
    EXPECT_NEAR(std::abs(dihedral_angle(stencil_points(hinge(angle, 0.7, 1.3)))), std::abs(angle), 1e-14);
  const double turned = dihedral_angle(stencil_points(hinge(0.5)));
  EXPECT_EQ(std::copysign(1, dihedral_angle(stencil_points(hinge(-0.5)))), -std::copysign(1, turned));
  EXPECT_EQ(dihedral_angle(stencil_points(hinge(0))), 0);
}

TEST(DihedralAngle, DerivativesAreThoseOfTheAngle) {
  std::mt19937 engine(5);
  std::uniform_real_distribution<double> u(-1, 1);
  for (int trial = 0; trial < 100; ++trial) {
    // Flat, nearly flat, folded to a hair, and any.
    Matrix3X x = trial % 4 == 0   ? hinge(0)
                 : trial % 4 == 1 ? hinge(1e-6 * u(engine), 0.1, 3)
                 : trial % 4 == 2 ? hinge(std::copysign(std::numbers::pi - 1e-3, u(engine)))
                                  : hinge(3 * u(engine));
    if (trial % 4 == 3)
      for (Eigen::Index k = 0; k < 12; ++k) x(k) += 0.3 * u(engine);
    const auto value = [](const Matrix3X& at) { return dihedral_angle(stencil_points(at)); };
    const Dihedral d = make_dihedral(stencil_points(x));
    EXPECT_EQ(d.angle, value(x));
    EXPECT_LT(relative_error(gradient(x), difference_gradient(value, x, 1e-6)), 1e-7) << trial;
    EXPECT_LT(relative_error(d.hessian(), difference_hessian(gradient, x, 1e-6)), 1e-7) << trial;
  }
}

TEST(DihedralAngle, TrianglesWithoutAreaGiveFiniteDerivatives) {
  for (Matrix3X x : {hinge(0.5, 0), hinge(0.5, 1, 0), hinge(0, 0, 0), Matrix3X(Matrix3X::Zero(3, 4))}) {
    for (int same = 0; same < 2; ++same) {
      if (same) x.col(1) = x.col(0);
      const Dihedral d = make_dihedral(stencil_points(x));
      EXPECT_TRUE(std::isfinite(d.angle));
      EXPECT_TRUE(gradient(x).allFinite());
      EXPECT_TRUE(d.hessian().allFinite());
    }
  }
}

}  // namespace
}  // namespace apart::test
