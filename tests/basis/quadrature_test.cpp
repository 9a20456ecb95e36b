#include <apart/basis/quadrature.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace apart::test {
namespace {

double factorial(int n) {
  return std::tgamma(n + 1.0);
}

/// ξ^0 … ξ^degree at the points of a rule, one column each.
Eigen::ArrayXXd powers(const Quadrature& rule, Index coordinate, int degree) {
  Eigen::ArrayXXd result = Eigen::ArrayXXd::Ones(rule.size(), degree + 1);
  for (int a = 1; a <= degree; ++a)
    result.col(a) = result.col(a - 1) * rule.points.row(coordinate).transpose().array();
  return result;
}

TEST(Quadrature, OfTheTetrahedronIsExactUpToItsDegreeWithPositiveWeights) {
  for (int degree = 0; degree <= 20; ++degree) {
    const Quadrature rule = tetrahedron_quadrature(degree);
    EXPECT_GT(rule.weights.minCoeff(), 0);
    const Eigen::ArrayXXd x = powers(rule, 0, degree), y = powers(rule, 1, degree),
                          z = powers(rule, 2, degree);
    for (int a = 0; a <= degree; ++a)
      for (int b = 0; a + b <= degree; ++b)
        for (int c = 0; a + b + c <= degree; ++c) {
          const double sum = (rule.weights.array() * x.col(a) * y.col(b) * z.col(c)).sum();
          const double exact = factorial(a) * factorial(b) * factorial(c) / factorial(a + b + c + 3);
          EXPECT_NEAR(sum, exact, 1e-14) << degree << ": " << a << b << c;
        }
  }
}

TEST(Quadrature, OfTheTriangleIsExactUpToItsDegreeWithPositiveWeights) {
  for (int degree = 0; degree <= largest_quadrature_degree; ++degree) {
    const Quadrature rule = triangle_quadrature(degree);
    EXPECT_GT(rule.weights.minCoeff(), 0);
    const Eigen::ArrayXXd x = powers(rule, 0, degree), y = powers(rule, 1, degree);
    for (int a = 0; a <= degree; ++a)
      for (int b = 0; a + b <= degree; ++b)
        EXPECT_NEAR((rule.weights.array() * x.col(a) * y.col(b)).sum(),
                    factorial(a) * factorial(b) / factorial(a + b + 2), 1e-14)
            << degree << ": " << a << b;
  }
}

TEST(Quadrature, HasThePublishedNumberOfPoints) {
  const Index points[] = {1, 4, 6, 11, 14, 23, 31, 44, 57, 74};  // Xiao and Gimbutas 2010, degrees 1 … 10
  for (int degree = 1; degree <= 10; ++degree)
    EXPECT_EQ(tetrahedron_quadrature(degree).size(), points[degree - 1]);
}

TEST(Quadrature, RefinedHasOneRuleForEachEighth) {
  const Quadrature rule = tetrahedron_quadrature(3), parts = refined(rule);
  ASSERT_EQ(parts.size(), 8 * rule.size());
  EXPECT_NEAR(parts.weights.sum(), 1.0 / 6, 1e-14);
  for (Index k = 0; k < parts.size(); ++k) EXPECT_EQ(refined_part(parts.points.col(k)), k / rule.size());
  // Twice: those of an eighth are together.
  const Quadrature twice = refined(parts);
  for (Index k = 0; k < twice.size(); ++k)
    EXPECT_EQ(refined_part(twice.points.col(k)), k / (8 * rule.size()));
  for (Index corner = 0; corner < 4; ++corner)
    EXPECT_EQ(refined_part(corner == 0 ? Vector3::Zero() : Vector3(Matrix3::Identity().col(corner - 1))),
              corner);
}

}  // namespace
}  // namespace apart::test
