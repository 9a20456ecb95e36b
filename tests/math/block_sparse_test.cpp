#include <apart/math/block_sparse.hpp>
#include <apart/math/psd_projection.hpp>

#include <apart/core/error.hpp>

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include <random>

namespace apart {
namespace {

TEST(BlockSparse, multiplies_like_the_dense_matrix_it_stands_for) {
  const std::vector<BlockKey> keys = {block_key(2, 0), block_key(1, 3)};
  BlockSparse a(4, keys);
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(12, 12);
  std::mt19937 engine(3);
  std::normal_distribution<double> normal;
  for (const auto& [i, j] : std::vector<std::pair<Index, Index>>{{0, 0}, {2, 0}, {2, 0}, {3, 1}, {3, 3}}) {
    Matrix3 b = Matrix3::NullaryExpr([&] { return normal(engine); });
    if (i == j) b = (b + b.transpose()).eval();
    a.add(a.slot(i, j), j, b);
    dense.block<3, 3>(3 * i, 3 * j) += b;
    if (i != j) dense.block<3, 3>(3 * j, 3 * i) += b.transpose();
  }
  const VectorX x = VectorX::LinSpaced(12, -1, 3);
  EXPECT_LT((a.multiply(x) - dense * x).norm(), 1e-13);
  for (int r = 6; r < 9; ++r)
    for (int c = 0; c < 3; ++c) EXPECT_EQ(a.at(r, c), dense(r, c));
  EXPECT_TRUE(a.has(block_key(0, 2)));
  EXPECT_FALSE(a.has(block_key(0, 1)));
  EXPECT_THROW(a.slot(1, 0), InvariantError);
  EXPECT_THROW(BlockSparse(2, keys), InvariantError) << "a pattern outside the matrix";
}

TEST(PsdProjection, is_the_identity_on_psd_matrices_and_clamps_others) {
  std::mt19937 engine(5);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 500; ++i) {
    Matrix3 a = Matrix3::NullaryExpr([&] { return normal(engine); });
    a = (a + a.transpose()).eval();
    Eigen::SelfAdjointEigenSolver<Matrix3> eigen(a);
    const Matrix3 expected = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() *
                             eigen.eigenvectors().transpose();
    EXPECT_LT((psd_projection(a) - expected).norm(), 1e-12);
    const Matrix3 square = a * a;
    EXPECT_LT((psd_projection(square) - square).norm(), 1e-12 * square.norm());
  }
  EXPECT_EQ(psd_projection(Matrix3(-Matrix3::Identity())).norm(), 0);
}

TEST(PsdProjection, of_four_points_is_that_of_the_whole_matrix) {
  using Matrix12 = Eigen::Matrix<double, 12, 12>;
  std::mt19937 engine(6);
  std::normal_distribution<double> normal;
  // Takes the common motion out.
  Matrix12 invariant = Matrix12::Identity();
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) invariant.block<3, 3>(3 * i, 3 * j) -= 0.25 * Matrix3::Identity();
  for (int i = 0; i < 200; ++i) {
    Matrix12 a = Matrix12::NullaryExpr([&] { return normal(engine); });
    a = invariant * Matrix12(a + a.transpose() + (i % 9 - 4) * Matrix12::Identity()) * invariant;
    const Eigen::MatrixXd expected = psd_projection(Eigen::MatrixXd(a));
    EXPECT_LT((psd_projection_of_four_points(a) - expected).norm(), 1e-12 * (1 + a.norm()));
    const Matrix12 square = a * a;
    EXPECT_LT((psd_projection_of_four_points(square) - square).norm(), 1e-12 * square.norm());
  }
}

}  // namespace
}  // namespace apart
