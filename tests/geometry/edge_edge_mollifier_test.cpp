#include <gtest/gtest.h>
#include <apart/geometry/edge_edge_mollifier.hpp>
#include <support/finite_difference.hpp>
#include <support/random.hpp>
#include <support/stencil_matrix.hpp>

#include <Eigen/Geometry>

namespace apart::test {
namespace {

/// Edges of about unit length at an angle with the given sine, anywhere near each other.
StencilPoints edges_at(double sine, Random& random) {
  const Vector3 u = (random.vector() + Vector3(3, 0, 0)).normalized();
  const Vector3 side = u.cross(random.vector() + Vector3(0, 3, 0)).normalized();
  StencilPoints x;
  x[0] = random.vector();
  x[1] = x[0] + random.uniform(0.5, 1.5) * u;
  x[2] = x[0] + random.vector();
  x[3] = x[2] + random.uniform(0.5, 1.5) * (std::sqrt(1 - sine * sine) * u + sine * side);
  return x;
}

TEST(EdgeEdgeMollifier, GradientAndHessianAreTheDerivatives) {
  Random random(11);
  for (double sine : {0.0, 1e-8, 1e-4, 1e-2, 0.02, 0.03})
    for (double scale : {1.0, 1e-3})
      for (int trial = 0; trial < 20; ++trial) {
        StencilPoints x = edges_at(sine, random);
        for (auto& p : x) p *= scale;
        const double threshold = edge_edge_mollifier_threshold(x);
        if (edge_edge_cross_squared(x) > 0.99 * threshold) continue;
        const EdgeEdgeMollifier m = edge_edge_mollifier(x, threshold);
        const double step = 1e-5 * scale;
        const Matrix3X g = difference_gradient(
            [&](const Matrix3X& y) { return edge_edge_mollifier_value(stencil_points(y), threshold); },
            as_matrix(x, 4), step);
        const Eigen::MatrixXd h = difference_hessian(
            [&](const Matrix3X& y) -> Matrix3X {
              return edge_edge_mollifier(stencil_points(y), threshold).gradient.reshaped(3, 4);
            },
            as_matrix(x, 4), step);
        // e is a quartic of sine / 0.03, so central differences err by about (step / 0.03)² of the
        // derivatives' scale.
        EXPECT_LT((g.reshaped() - m.gradient).norm(), 1e-5 * (m.gradient.norm() + 1 / scale)) << sine;
        EXPECT_LT((h - m.hessian).norm(), 1e-5 * m.hessian.norm()) << sine;
        EXPECT_EQ(m.value, edge_edge_mollifier_value(x, threshold));
        const EdgeEdgeMollifier::First first = edge_edge_mollifier_gradient(x, threshold);
        EXPECT_EQ(first.value, m.value);
        EXPECT_LE((first.gradient - m.gradient).norm(), 1e-14 * m.gradient.norm());
      }
}

TEST(EdgeEdgeMollifier, VanishesWithItsGradientForParallelEdges) {
  const StencilPoints x = {Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(0.2, 1, 0), Vector3(2.2, 1, 0)};
  const EdgeEdgeMollifier m = edge_edge_mollifier(x, edge_edge_mollifier_threshold(x));
  EXPECT_EQ(m.value, 0);
  EXPECT_TRUE(m.gradient.isZero(0));
  EXPECT_GT(m.hessian.norm(), 0);
}

TEST(EdgeEdgeMollifier, IsOneWithoutSlopeFromTheThresholdOn) {
  const double sine = std::sqrt(1e-3);  // c = ε
  const auto at = [&](double s) {
    return StencilPoints{Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(0, 0, 1),
                         Vector3(std::sqrt(1 - s * s), s, 1)};
  };
  const double threshold = edge_edge_mollifier_threshold(at(sine));
  EXPECT_NEAR(threshold, 1e-3, 1e-15);
  const EdgeEdgeMollifier below = edge_edge_mollifier(at(sine * (1 - 1e-7)), threshold);
  EXPECT_NEAR(below.value, 1, 1e-12);
  EXPECT_LT(below.value, 1);
  EXPECT_LT(below.gradient.norm(), 1e-4);
  const EdgeEdgeMollifier above = edge_edge_mollifier(at(sine * (1 + 1e-7)), threshold);
  EXPECT_EQ(above.value, 1);
  EXPECT_TRUE(above.gradient.isZero(0) && above.hessian.isZero(0));
  EXPECT_EQ(edge_edge_mollifier_value(at(0.5), threshold), 1);
}

TEST(EdgeEdgeMollifier, DoesNotDependOnTheUnitOfLength) {
  Random random(11);
  for (int trial = 0; trial < 100; ++trial) {
    const StencilPoints x = edges_at(random.uniform(0, 0.03), random);
    StencilPoints y = x;
    for (auto& p : y) p *= 1e-4;
    EXPECT_NEAR(edge_edge_mollifier_value(x, edge_edge_mollifier_threshold(x)),
                edge_edge_mollifier_value(y, edge_edge_mollifier_threshold(y)), 1e-9);
  }
}

}  // namespace
}  // namespace apart::test
