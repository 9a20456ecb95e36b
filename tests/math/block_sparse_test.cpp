#include <apart/math/block_sparse.hpp>

#include <apart/core/error.hpp>

#include <gtest/gtest.h>

#include <random>

namespace apart::test {
namespace {

TEST(BlockSparse, MultipliesLikeTheDenseMatrixItStandsFor) {
  const std::vector<BlockKey> keys = {block_key(2, 0), block_key(1, 3)};
  BlockSparse a(4, keys);
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(12, 12);
  std::mt19937 engine(3);
  std::normal_distribution<double> normal;
  for (const auto& [i, j] : std::vector<std::pair<Index, Index>>{{0, 0}, {2, 0}, {2, 0}, {3, 1}, {3, 3}}) {
    Matrix3 b = Matrix3::NullaryExpr([&] { return normal(engine); });
    if (i == j) b = (b + b.transpose()).eval();
    a.add(a.slot(i, j), b);
    dense.block<3, 3>(3 * i, 3 * j) += b;
    if (i != j) dense.block<3, 3>(3 * j, 3 * i) += b.transpose();
  }
  const VectorX x = VectorX::LinSpaced(12, -1, 3);
  EXPECT_LT((a.multiply(x) - dense * x).norm(), 1e-13);
  for (int r = 6; r < 9; ++r)
    for (int c = 0; c < 3; ++c) EXPECT_EQ(a.at(r, c), dense(r, c));
  EXPECT_GE(a.find(2, 0), 0);
  EXPECT_EQ(a.find(1, 0), -1);
  EXPECT_THROW(a.slot(1, 0), InvariantError);
  EXPECT_THROW(BlockSparse(2, keys), InvariantError) << "a pattern outside the matrix";
}

}  // namespace
}  // namespace apart::test
