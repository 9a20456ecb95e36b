// Polynomials on parts of the reference tetrahedron.
#include <apart/basis/bernstein_parts.hpp>
#include <apart/core/error.hpp>

#include <gtest/gtest.h>

#include <random>

namespace apart::test {
namespace {

/// Parts of different sizes, some of the tetrahedron missing: 1 is bisected into 2 and 3, and so on.
const std::vector<BernsteinPath> some_paths = {4, 21, 11, 7};
const std::vector<int> all_parts = {0, 1, 2, 3};

/// Coefficients on some parts, side by side.
Eigen::MatrixXd restricted(const BernsteinParts& parts, const BernsteinTetrahedron& basis,
                           const Eigen::MatrixXd& whole, const std::vector<int>& wanted) {
  BernsteinParts::Room room;
  Eigen::MatrixXd result(whole.rows(), Index(wanted.size()) * basis.size());
  std::size_t visited = 0;
  parts.restrict(basis, whole, wanted, room, [&](std::size_t k, const BernsteinParts::Matrix& there) {
    EXPECT_EQ(k, visited++);
    result.middleCols(Index(k) * basis.size(), basis.size()) = there;
  });
  EXPECT_EQ(visited, wanted.size());
  return result;
}

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
    const Eigen::MatrixXd whole = random_rows(1, basis.size(), 3),
                          on_parts = restricted(parts, basis, whole, all_parts);
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
  for (const std::vector<int>& wanted : {all_parts, {1, 3}, {0}, {}})
    for (const int degree : {0, 1, 3, 9})
      for (const Index rows : {1, 2}) {
        const BernsteinTetrahedron basis(degree);
        const Eigen::MatrixXd whole = random_rows(rows, basis.size(), 7),
                              weights = random_rows(rows, Index(wanted.size()) * basis.size(), 8);
        BernsteinParts::Room room;
        const double one = restricted(parts, basis, whole, wanted).cwiseProduct(weights).sum(),
                     other = whole.cwiseProduct(parts.gathered(basis, weights, wanted, room)).sum();
        EXPECT_NEAR(one, other, 1e-13 * weights.norm() * whole.norm());
      }
}

TEST(BernsteinParts, OnlyWantedPartsAreComputed) {
  const BernsteinParts parts(some_paths);
  const BernsteinTetrahedron basis(3);
  const Index n = basis.size();
  const Eigen::MatrixXd whole = random_rows(2, n, 9), all = restricted(parts, basis, whole, all_parts),
                        some = restricted(parts, basis, whole, {1, 3});
  EXPECT_EQ(some.leftCols(n), all.middleCols(n, n));
  EXPECT_EQ(some.rightCols(n), all.middleCols(3 * n, n));
}

TEST(BernsteinParts, LowPartsAreThoseWithACoefficientThatIsNotAbove) {
  const BernsteinParts parts(some_paths);
  std::size_t least = some_paths.size(), most = 0;
  for (const int degree : {1, 3, 9})
    for (unsigned seed = 0; seed < 40; ++seed) {
      const BernsteinTetrahedron basis(degree);
      const Index n = basis.size();
      Eigen::MatrixXd both = random_rows(2, n, seed);
      both.row(1).array() += 2;
      both.row(0).array() += 0.1 * seed;
      const double share = 0.4;
      const Eigen::MatrixXd all = restricted(parts, basis, both, all_parts);
      std::vector<int> expected;
      for (const int part : all_parts) {
        const auto there = all.middleCols(part * n, n);
        if ((there.row(0) - share * there.row(1)).minCoeff() <= 0) expected.push_back(part);
      }
      BernsteinParts::Room room;
      const BernsteinParts::Low low = parts.low(basis, both, share, room);
      ASSERT_EQ(std::vector<int>(low.parts.begin(), low.parts.end()), expected);
      EXPECT_EQ(low.coefficients, restricted(parts, basis, both, expected));
      least = std::min(least, expected.size()), most = std::max(most, expected.size());
    }
  EXPECT_EQ(least, 0u);
  EXPECT_EQ(most, some_paths.size());
}

TEST(BernsteinParts, TheWholeIsAPartAndNoPartsAreNone) {
  const BernsteinTetrahedron basis(3);
  const Eigen::MatrixXd whole = random_rows(1, basis.size(), 10);
  BernsteinParts::Room room;
  const std::vector<int> one = {0};
  EXPECT_EQ(restricted(BernsteinParts({1}), basis, whole, one), whole);
  EXPECT_EQ(BernsteinParts({1}).gathered(basis, whole, one, room), whole);
  const BernsteinParts none(std::vector<BernsteinPath>{});
  EXPECT_EQ(none.gathered(basis, Eigen::MatrixXd(1, 0), {}, room).norm(), 0);
  EXPECT_TRUE(none.low(basis, random_rows(2, basis.size(), 11), 1, room).parts.empty());
}

TEST(BernsteinParts, PathsAreInTheOrderOfTheTreeAndDoNotOverlap) {
  EXPECT_THROW(BernsteinParts({7, 4}), InvariantError);
  EXPECT_THROW(BernsteinParts({2, 5}), InvariantError);
  EXPECT_THROW(BernsteinParts({4, 4}), InvariantError);
  EXPECT_TRUE(comes_before(4, 21) && comes_before(21, 11) && comes_before(11, 7) && !comes_before(7, 4));
  const auto found = [](BernsteinPath path) {
    const auto paths = within(some_paths, path);
    return std::vector<BernsteinPath>(paths.begin(), paths.end());
  };
  EXPECT_EQ(found(1), some_paths);
  EXPECT_EQ(found(2), std::vector<BernsteinPath>({4, 21, 11}));
  EXPECT_EQ(found(3), std::vector<BernsteinPath>({7}));
  EXPECT_EQ(found(5), std::vector<BernsteinPath>({21, 11}));
  EXPECT_EQ(found(21), std::vector<BernsteinPath>({21}));
  EXPECT_TRUE(found(8).empty());  // within a part
  EXPECT_TRUE(found(6).empty());
}

}  // namespace
}  // namespace apart::test
