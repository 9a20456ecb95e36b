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

// Of a twisted mat: positive, but a three-thousandth of its largest value on an edge, which takes more than
// 30 halvings, 5 of each edge, to be seen.
TEST(CurvedProof, HalvesAsOftenAsItTakes) {
  Matrix3X x(3, 10);
  x << 0.22566006640875425, 0.2883167997962684, 0.28423111006601387, 0.29033660240260406, 0.25981902228464648,
      0.28689171646375883, 0.25727025820850213, 0.25619138977591366, 0.28318213598770126,
      0.27674742192130308,  //
      0.097941501021344538, 0.084116111879138769, 0.070184707685828657, 0.051155535093819621,
      0.095182420787457395, 0.07753391722612156, 0.088593954902500258, 0.083019242729088491,
      0.069991244856305118, 0.066325527709819657,  //
      0.018302102422849662, -0.050509001382898308, -0.045140927183521355, -0.028524908099120918,
      -0.014539380513539963, -0.048284494524577788, -0.013708288694113214, -0.0108731956070614,
      -0.044828006757340853, -0.04825034947274804;
  EXPECT_EQ(CurvedProof(2).proven_until(x, x), 1);
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
