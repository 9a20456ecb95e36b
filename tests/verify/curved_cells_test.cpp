// The proof of curved cells against the solver's own bound, which is another method, and against samples.
#include <apart/basis/jacobian_bound.hpp>
#include <apart/verify/curved_cells.hpp>

#include <gtest/gtest.h>
#include <Eigen/LU>

#include <random>

namespace apart::test {
namespace {

using verify::CurvedProof;

Matrix3X bent(int degree, double size, std::mt19937& random) {
  std::normal_distribution<double> normal(0, size);
  Matrix3X x = LagrangeTetrahedron(degree).nodes();
  for (double& c : x.reshaped()) c += normal(random);
  return x;
}

double smallest_sample(int degree, const Matrix3X& x, std::mt19937& random) {
  std::exponential_distribution<double> exponential;
  double smallest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 300; ++i) {
    Eigen::Vector4d lambda(exponential(random), exponential(random), exponential(random),
                           exponential(random));
    const Vector3 xi = lambda.tail<3>() / lambda.sum();
    smallest =
        std::min(smallest, Matrix3(x * LagrangeTetrahedron(degree).gradients(xi).transpose()).determinant());
  }
  return smallest;
}

TEST(CurvedProof, AgreesWithTheBoundOfTheSolver) {
  std::mt19937 random(5);
  for (int degree = 2; degree <= 4; ++degree) {
    const CurvedProof proof(degree);
    const JacobianBound bound(degree);
    int positive = 0, refused = 0;
    for (int i = 0; i < 60; ++i) {
      const Matrix3X x = bent(degree, 0.12 / degree * (0.2 + i / 30.0), random);
      const auto smallest = bound.smallest(x);
      const bool proven = proof.proven_until(x, x) == 1;
      if (smallest.bound > 1e-9) {
        EXPECT_TRUE(proven);
        EXPECT_GT(smallest_sample(degree, x, random), 0);
        ++positive;
      }
      if (smallest.value < 0) {
        EXPECT_FALSE(proven);
        ++refused;
      }
      EXPECT_LE(proof.smallest_coefficient(x), smallest.value + 1e-12);
    }
    EXPECT_GT(positive, 10) << degree;
    EXPECT_GT(refused, 10) << degree;
  }
}

TEST(CurvedProof, ReachesCellsThatAreNearlyInverted) {
  std::mt19937 random(9);
  for (int degree = 2; degree <= 4; ++degree) {
    const CurvedProof proof(degree);
    const JacobianBound bound(degree);
    const Matrix3X straight = LagrangeTetrahedron(degree).nodes();
    for (int i = 0; i < 6; ++i) {
      const Matrix3X by = bent(degree, 1, random) - straight;
      double valid = 0, inverted = 1;
      while (bound.smallest(straight + inverted * by).value > 0) inverted *= 2;
      for (int k = 0; k < 40; ++k) {
        const double middle = 0.5 * (valid + inverted);
        (bound.smallest(straight + middle * by).bound > 0 ? valid : inverted) = middle;
      }
      for (const double less : {1e-2, 1e-4, 1e-6}) {
        const Matrix3X x = straight + (1 - less) * valid * by;
        EXPECT_EQ(proof.proven_until(x, x), 1) << degree << ", " << less << " before it inverts";
      }
      const Matrix3X x = straight + 1.001 * inverted * by;
      if (bound.smallest(x).value < 0) EXPECT_EQ(proof.proven_until(x, x), 0);
    }
  }
}

TEST(CurvedProof, StopsBeforeAPathInverts) {
  std::mt19937 random(6);
  for (int degree = 2; degree <= 4; ++degree) {
    const CurvedProof proof(degree);
    int stopped = 0;
    for (int i = 0; i < 10; ++i) {
      const Matrix3X from = bent(degree, 0.02 / degree, random), to = bent(degree, 0.5, random);
      const double until = proof.proven_until(from, to);
      if (until < 1) ++stopped;
      EXPECT_GT(until, 0);
      for (double t = 0; t < until; t += until / 7)
        EXPECT_GT(smallest_sample(degree, from + t * (to - from), random), 0);
    }
    EXPECT_GT(stopped, 5);
  }
  // There and back through a point: both ends are the same shape, the way is not free.
  const Matrix3X x = LagrangeTetrahedron(2).nodes();
  EXPECT_LT(CurvedProof(2).proven_until(x, Matrix3X(-x)), 0.51);
}

/// A cell of straight sides whose tip is above the middle of its base by a height so small that the rounding
/// of determinants leaves their sign open. Coordinates are multiples of the degree, so that no point is
/// rounded.
Matrix3X nearly_flat(int degree, double height) {
  Matrix3 corners;  // relative to the first
  corners << 4, 0, 1, 0, 4, 1, 0, 0, height;
  return degree * (corners * (degree * LagrangeTetrahedron(degree).nodes()).array().round().matrix()) /
         degree;
}

TEST(CurvedProof, DecidesInFractionsWhatRoundingLeavesOpen) {
  const double tiny = 0x1p-70;
  for (int degree = 2; degree <= 4; ++degree) {
    const CurvedProof proof(degree);
    const Matrix3X thin = nearly_flat(degree, tiny), thinner = nearly_flat(degree, tiny / 8),
                   flat = nearly_flat(degree, 0), inverted = nearly_flat(degree, -tiny);
    ASSERT_GT(thin.row(2).maxCoeff(), 0);
    EXPECT_EQ(proof.proven_until(thin, thin), 1) << degree;
    EXPECT_EQ(proof.proven_until(flat, flat), 0) << degree;
    EXPECT_EQ(proof.proven_until(inverted, inverted), 0) << degree;
    EXPECT_EQ(proof.proven_until(thin, flat), 1 - 1.0 / 1024) << "flat at the end alone, degree " << degree;
    EXPECT_EQ(proof.proven_until(thin, inverted), 0.5 - 1.0 / 1024) << degree;
    EXPECT_EQ(proof.proven_until(thin, thinner), 1) << degree;
  }
}

}  // namespace
}  // namespace apart::test
