#include <apart/core/error.hpp>
#include <apart/math/psd_projection.hpp>
#include <apart/math/symmetric_eigen.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>

namespace apart {

namespace {

/// Adds what the negative eigenvalues take away, or builds the sum of the positive ones: whichever are fewer.
template <int N>
Eigen::Matrix<double, N, N> project(const Eigen::Matrix<double, N, N>& a) {
  const SymmetricEigen<N> eigen(a);
  int negative = 0;
  for (const double value : eigen.values) negative += value < 0;
  Eigen::Matrix<double, N, N> result;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) result(i, j) = result(j, i) = 2 * negative <= N ? a(i, j) : 0;
  if (negative == 0) return result;
  for (int e = 0; e < N; ++e) {
    if ((eigen.values[e] < 0) != (2 * negative <= N)) continue;
    const auto& v = eigen.vectors[e];
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < N; ++i) result(i, j) += std::abs(eigen.values[e]) * (v[i] * v[j]);
  }
  return result;
}

}  // namespace

Matrix3 psd_projection(const Matrix3& a) {
  // Sylvester: positive leading minors. The common case for elastic elements needs no eigenvalues.
  const double m1 = a(0, 0), m2 = a(0, 0) * a(1, 1) - a(1, 0) * a(1, 0);
  if (m1 > 0 && m2 > 0) {
    const double det = a(0, 0) * (a(1, 1) * a(2, 2) - a(2, 1) * a(2, 1)) -
                       a(1, 0) * (a(1, 0) * a(2, 2) - a(2, 1) * a(2, 0)) +
                       a(2, 0) * (a(1, 0) * a(2, 1) - a(1, 1) * a(2, 0));
    if (det > 0) return a.selfadjointView<Eigen::Lower>();
  }
  return project(a);
}

Eigen::Matrix4d psd_projection(const Eigen::Matrix4d& a) {
  return project(a);
}
Eigen::Matrix2d psd_projection(const Eigen::Matrix2d& a) {
  const double p = a(0, 0), q = a(1, 1), r = a(1, 0);
  Eigen::Matrix2d result;
  result << p, r, r, q;
  const double determinant = p * q - r * r;
  if (p + q >= 0 && determinant >= 0) return result;
  const double mean = 0.5 * (p + q), radius = std::hypot(0.5 * (p - q), r);
  if (mean + radius <= 0) return Eigen::Matrix2d::Zero();
  // λ₊ times the projector (A − λ₋ I)/(λ₊ − λ₋); the radius is positive, or both had one sign.
  const double larger = mean + radius, smaller = mean - radius;
  result(0, 0) -= smaller;
  result(1, 1) -= smaller;
  return result * (larger / (2 * radius));
}

Eigen::Matrix<double, 5, 5> psd_projection(const Eigen::Matrix<double, 5, 5>& a) {
  return project(a);
}
Eigen::Matrix<double, 9, 9> psd_projection(const Eigen::Matrix<double, 9, 9>& a) {
  return project(a);
}

Eigen::Matrix<double, 12, 12> psd_projection_of_four_points(const Eigen::Matrix<double, 12, 12>& a) {
  // Orthonormal combinations of the four points whose weights sum to zero: the matrix vanishes on the fourth.
  const double h = std::sqrt(0.5);
  Eigen::Matrix<double, 4, 3> q;
  q << h, 0, 0.5, -h, 0, 0.5, 0, h, -0.5, 0, -h, -0.5;
  Eigen::Matrix<double, 12, 9> half = Eigen::Matrix<double, 12, 9>::Zero();
  for (int j = 0; j < 4; ++j)
    for (int k = 0; k < 3; ++k)
      if (q(j, k) != 0) half.middleCols<3>(3 * k) += q(j, k) * a.middleCols<3>(3 * j);
  Eigen::Matrix<double, 9, 9> small = Eigen::Matrix<double, 9, 9>::Zero();
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 3; ++k)
      if (q(i, k) != 0) small.middleRows<3>(3 * k) += q(i, k) * half.middleRows<3>(3 * i);
  const SymmetricEigen<9> eigen(small);
  // Back through the fewer vectors: those to keep, or those to take away.
  int negative = 0;
  for (const double value : eigen.values) negative += value < 0;
  if (negative == 0) return a;
  const bool take_away = negative < 5;
  Eigen::Matrix<double, 12, 12> result = Eigen::Matrix<double, 12, 12>::Zero();
  if (take_away) result = a;
  for (int e = 0; e < 9; ++e) {
    if ((eigen.values[e] < 0) != take_away) continue;
    double v[12] = {};
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 3; ++k)
        for (int c = 0; c < 3; ++c) v[3 * i + c] += q(i, k) * eigen.vectors[e][3 * k + c];
    for (int j = 0; j < 12; ++j)
      for (int i = 0; i < 12; ++i) result(i, j) += std::abs(eigen.values[e]) * (v[i] * v[j]);
  }
  return result;
}

void make_positive(Eigen::Ref<Eigen::MatrixXd> a, NegativeEigenvalues negative) {
  constexpr int most = most_rows_made_positive;
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, most, most>;
  ensure(a.rows() == a.cols() && a.rows() <= most, "make_positive: a square matrix of up to 105 rows");
  // Eigen adds numbers up in an order that depends on their addresses, which on the stack are the same modulo
  // its vectors only if they are asked to be: results must not depend on the thread.
  struct alignas(64) Aligned {
    Eigen::LLT<Matrix> cholesky;
    Eigen::SelfAdjointEigenSolver<Matrix> eigen;
  } solver;
  if (solver.cholesky.compute(a).info() == Eigen::Success) return;
  const double share = negative == NegativeEigenvalues::zeroed ? 1 : 2;
  const auto raise = [&](double value, const auto& v) {
    if (value < 0) a.noalias() -= (share * value * v).lazyProduct(v.transpose());
  };
  if (a.rows() == 6) {  // rigid bodies
    const SymmetricEigen<6> eigen(a);
    for (std::size_t e = 0; e < 6; ++e)
      raise(eigen.values[e], Eigen::Map<const Eigen::Matrix<double, 6, 1>>(eigen.vectors[e].data()));
    return;
  }
  solver.eigen.compute(a);
  for (Eigen::Index e = 0; e < a.rows(); ++e)
    raise(solver.eigen.eigenvalues()[e], solver.eigen.eigenvectors().col(e));
}

}  // namespace apart
