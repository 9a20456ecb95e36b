#include <apart/math/psd_projection.hpp>

#include <Eigen/Eigenvalues>
#include <cmath>

namespace apart {

namespace {

template <class M>
M project(const M& a) {
  Eigen::SelfAdjointEigenSolver<M> eigen(a);
  if (eigen.eigenvalues()[0] >= 0) return a.template selfadjointView<Eigen::Lower>();
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() *
         eigen.eigenvectors().transpose();
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

Eigen::MatrixXd psd_projection(const Eigen::MatrixXd& a) {
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
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, 9, 9>> eigen(small);
  // Back through the fewer vectors: those to keep, or those to take away.
  const int negative = int((eigen.eigenvalues().array() < 0).count());
  if (negative == 0) return a;
  const bool take_away = negative < 5;
  Eigen::Matrix<double, 12, 12> result = Eigen::Matrix<double, 12, 12>::Zero();
  if (take_away) result = a;
  for (int e = take_away ? 0 : negative; e < (take_away ? negative : 9); ++e) {
    Eigen::Matrix<double, 12, 1> v = Eigen::Matrix<double, 12, 1>::Zero();
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 3; ++k)
        v.segment<3>(3 * i) += q(i, k) * eigen.eigenvectors().col(e).segment<3>(3 * k);
    result.noalias() += (take_away ? -eigen.eigenvalues()[e] : eigen.eigenvalues()[e]) * v * v.transpose();
  }
  return result;
}

}  // namespace apart
