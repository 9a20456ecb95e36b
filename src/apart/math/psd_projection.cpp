#include <apart/math/psd_projection.hpp>

#include <Eigen/Eigenvalues>

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
Eigen::Matrix<double, 5, 5> psd_projection(const Eigen::Matrix<double, 5, 5>& a) {
  return project(a);
}
Eigen::Matrix<double, 12, 12> psd_projection(const Eigen::Matrix<double, 12, 12>& a) {
  return project(a);
}

}  // namespace apart
