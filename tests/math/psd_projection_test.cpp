#include <apart/math/psd_projection.hpp>
#include <apart/math/symmetric_eigen.hpp>

#include <gtest/gtest.h>
#include <support/nearest_psd.hpp>

#include <limits>
#include <random>

namespace apart::test {
namespace {

using Eigen::MatrixXd;

/// Random symmetric matrices of every kind of spectrum: general, rank one, definite, repeated eigenvalues,
/// decoupled, nearly decoupled, zero. Dynamic, because each fixed size takes seconds to compile.
MatrixXd sample(int n, int kind, std::mt19937& engine) {
  std::normal_distribution<double> normal;
  const MatrixXd a = MatrixXd::NullaryExpr(n, n, [&] { return normal(engine); });
  const MatrixXd symmetric = a + a.transpose(), square = a * a.transpose();
  switch (kind % 9) {
    case 0: {
      const MatrixXd first = a.leftCols(1);
      return first * first.transpose();
    }
    case 1:
      return square;
    case 2:
      return -square;
    case 3: {
      const MatrixXd unit = a.leftCols(1) / a.leftCols(1).norm();
      return 3 * MatrixXd::Identity(n, n) - MatrixXd(5 * unit * unit.transpose());
    }
    case 4:
    case 5: {
      MatrixXd diagonal = kind % 9 == 4 ? MatrixXd(0 * symmetric) : MatrixXd(1e-15 * symmetric);
      for (int i = 0; i < n; ++i) diagonal(i, i) = a(i, 0);
      return diagonal;
    }
    case 6:
      return MatrixXd::Zero(n, n);
    default:
      return symmetric;
  }
}

template <int N>
void expect_decomposition() {
  std::mt19937 engine(N);
  for (int trial = 0; trial < 500; ++trial)
    for (const double scale : {1.0, 1e-200, 1e200}) {
      const MatrixXd a = sample(N, trial, engine), scaled = scale * a;
      const SymmetricEigen<N> eigen(scaled);
      MatrixXd v(N, N), stretched(N, N);
      for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j) {
          v(j, i) = eigen.vectors[i][j];
          stretched(j, i) = v(j, i) * (eigen.values[i] / scale);
        }
      EXPECT_LT((v.transpose() * v - MatrixXd::Identity(N, N)).norm(), 1e-13);
      EXPECT_LT((stretched * v.transpose() - a).norm(), 1e-13 * a.norm() + 1e-300) << trial << " " << scale;
    }
}

TEST(SymmetricEigen, GivesTheMatrixBackFromOrthonormalVectors) {
  expect_decomposition<2>();
  expect_decomposition<3>();
  expect_decomposition<4>();
  expect_decomposition<5>();
  expect_decomposition<9>();
}

TEST(SymmetricEigen, EndsWithWhatIsNotANumber) {
  MatrixXd a = MatrixXd::Identity(4, 4);
  a(2, 1) = a(1, 2) = std::numeric_limits<double>::quiet_NaN();
  const SymmetricEigen<4> eigen(a);
  bool finite = true;
  for (const double value : eigen.values) finite &= std::isfinite(value);
  EXPECT_FALSE(finite);
}

template <int N>
void expect_projection() {
  using Square = Eigen::Matrix<double, N, N>;
  std::mt19937 engine(100 + N);
  for (int trial = 0; trial < 500; ++trial) {
    const MatrixXd a = sample(N, trial, engine), projected = psd_projection(Square(a));
    EXPECT_LT((projected - nearest_psd(a)).norm(), 1e-13 * (1 + a.norm())) << N << " " << trial;
    Square lower;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) lower(i, j) = j <= i ? a(i, j) : 7;
    EXPECT_EQ(MatrixXd(psd_projection(lower)), projected) << "reads the lower triangle alone";
  }
  EXPECT_EQ(MatrixXd(psd_projection(Square(-MatrixXd::Identity(N, N)))).norm(), 0);
}

TEST(PsdProjection, IsTheNearestPositiveSemidefiniteMatrix) {
  expect_projection<2>();
  expect_projection<3>();
  expect_projection<4>();
  expect_projection<5>();
  expect_projection<9>();
}

TEST(PsdProjection, OfFourPointsIsThatOfTheWholeMatrix) {
  using Matrix12 = Eigen::Matrix<double, 12, 12>;
  std::mt19937 engine(6);
  // Takes the common motion out.
  MatrixXd invariant = MatrixXd::Identity(12, 12);
  for (int i = 0; i < 12; ++i)
    for (int j = i % 3; j < 12; j += 3) invariant(i, j) -= 0.25;
  for (int i = 0; i < 200; ++i) {
    const MatrixXd any = sample(12, 7, engine) + (i % 9 - 4) * MatrixXd::Identity(12, 12);
    const MatrixXd a = invariant * any * invariant, square = a * a;
    EXPECT_LT((psd_projection_of_four_points(Matrix12(a)) - Matrix12(nearest_psd(a))).norm(),
              1e-12 * (1 + a.norm()));
    EXPECT_LT((psd_projection_of_four_points(Matrix12(square)) - Matrix12(square)).norm(),
              1e-12 * square.norm());
  }
}

TEST(MakePositive, ZeroesOrMirrorsTheNegativeEigenvaluesOfMatricesOfAnySize) {
  std::mt19937 engine(8);
  for (const int n : {1, 3, 6, 12, 18, 30, most_rows_made_positive})
    for (int trial = 0; trial < 18; ++trial) {
      const MatrixXd a = sample(n, trial, engine);
      MatrixXd zeroed = a, mirrored = a;
      make_positive(zeroed, NegativeEigenvalues::zeroed);
      make_positive(mirrored, NegativeEigenvalues::mirrored);
      const MatrixXd nearest = nearest_psd(a), raised = nearest - a;  // Σ |λ| v vᵀ over λ < 0
      const double accuracy = 1e-12 * (1 + a.norm());
      EXPECT_LT((zeroed - nearest).norm(), accuracy) << n << " " << trial;
      EXPECT_LT((mirrored - (a + 2 * raised)).norm(), accuracy) << n << " " << trial;
    }
}

}  // namespace
}  // namespace apart::test
