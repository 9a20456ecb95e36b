#include <apart/math/principal_axes.hpp>

#include <Eigen/Eigenvalues>

namespace apart {

PrincipalAxes principal_axes(const Matrix3& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Matrix3> solver(symmetric);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace apart
