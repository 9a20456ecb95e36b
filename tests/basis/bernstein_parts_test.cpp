// Polynomials on parts of the reference tetrahedron.
#include <apart/basis/bernstein_parts.hpp>

#include <gtest/gtest.h>

#include <random>

namespace apart::test {
namespace {

/// Parts of different sizes, some of the tetrahedron missing: 1 is bisected into 2 and 3, and so on.
const std::vector<BernsteinPath> some_paths = {7, 4, 11, 21};

double value_at(const BernsteinTetrahedron& basis, const Eigen::MatrixXd& coefficients, const Vector3& xi) {
  const std::array<double, 4> lambda = {1 - xi.sum(), xi[0], xi[1], xi[2]};
  double sum = 0;
  for (Index i = 0; i < basis.size(); ++i) {
    const LatticePoint& gamma = basis.lattice()[std::size_t(i)];
    double term = coefficients(0, i) * BernsteinTetrahedron::multinomial(gamma);
    for (std::size_t c = 0; c < 4; ++c) term *= std::pow(lambda[c], gamma[c]);
    sum += term;
  }
  return sum;
}

Eigen::MatrixXd random_rows(Index rows, Index columns, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return uniform(engine); });
}

/// The corners of a part, by the bisections that lead there.
BernsteinCorners corners_of(BernsteinPath path) {
  if (path == 1) return reference_corners();
  BernsteinCorners result = corners_of(path / 2);
  const auto [a, b] = longest_edge(result);
  result.col(path % 2 == 0 ? b : a) = 0.5 * (result.col(a) + result.col(b)).eval();
  return result;
}

TEST(BernsteinParts, PolynomialsHaveTheSameValuesOnParts) {
  const BernsteinParts parts(some_paths);
  ASSERT_EQ(parts.count(), Index(some_paths.size()));
  for (const int degree : {0, 1, 3, 9}) {
    const BernsteinTetrahedron basis(degree);
    BernsteinParts::Room room;
    const Eigen::MatrixXd whole = random_rows(1, basis.size(), 3),
                          on_parts = parts.restricted(basis, whole, room);
    std::mt19937 engine(5);
    std::exponential_distribution<double> weight;
    for (std::size_t k = 0; k < some_paths.size(); ++k)
      for (int sample = 0; sample < 10; ++sample) {
        Eigen::Vector4d lambda = Eigen::Vector4d::NullaryExpr([&] { return weight(engine); });
        lambda /= lambda.sum();
        const double there =
            value_at(basis, on_parts.middleCols(Index(k) * basis.size(), basis.size()), lambda.tail<3>());
        EXPECT_NEAR(there, value_at(basis, whole, corners_of(some_paths[k]) * lambda), 1e-13);
      }
  }
}

TEST(BernsteinParts, GatheringIsTheTransposeOfRestricting) {
  const BernsteinParts parts(some_paths);
  for (const int degree : {0, 1, 3, 9}) {
    const BernsteinTetrahedron basis(degree);
    const Eigen::MatrixXd whole = random_rows(1, basis.size(), 7),
                          weights = random_rows(1, parts.count() * basis.size(), 8);
    BernsteinParts::Room room;
    const double one = parts.restricted(basis, whole, room).row(0).dot(weights.row(0)),
                 other = whole.row(0).dot(parts.gathered(basis, weights, room).row(0));
    EXPECT_NEAR(one, other, 1e-13 * weights.norm() * whole.norm());
  }
}

TEST(BernsteinParts, OnlyWantedPartsAreComputed) {
  const BernsteinParts parts(some_paths);
  const BernsteinTetrahedron basis(3);
  BernsteinParts::Room room;
  const Eigen::MatrixXd whole = random_rows(2, basis.size(), 9), all = parts.restricted(basis, whole, room),
                        some = parts.restricted(basis, whole, room, {false, true, false, true});
  for (Index k = 0; k < parts.count(); ++k) {
    const auto expected = all.middleCols(k * basis.size(), basis.size()),
               found = some.middleCols(k * basis.size(), basis.size());
    EXPECT_EQ(found, k % 2 == 1 ? Eigen::MatrixXd(expected) : Eigen::MatrixXd::Zero(2, basis.size()));
  }
}

TEST(BernsteinParts, TheWholeIsAPartAndNoPartsAreNone) {
  const BernsteinTetrahedron basis(3);
  const Eigen::MatrixXd whole = random_rows(1, basis.size(), 10);
  BernsteinParts::Room room;
  EXPECT_EQ(BernsteinParts({1}).restricted(basis, whole, room), whole);
  EXPECT_EQ(BernsteinParts({1}).gathered(basis, whole, room), whole);
  EXPECT_EQ(BernsteinParts(std::vector<BernsteinPath>{}).restricted(basis, whole, room).cols(), 0);
}

}  // namespace
}  // namespace apart::test
