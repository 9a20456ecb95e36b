#pragma once
#include <apart/core/types.hpp>

namespace apart {

/// The nearest positive semi-definite matrix (Frobenius): negative eigenvalues set to zero. Reads the lower
/// triangle.
Matrix3 psd_projection(const Matrix3& a);
/// The same for any size.
Eigen::MatrixXd psd_projection(const Eigen::MatrixXd& a);
Eigen::Matrix<double, 5, 5> psd_projection(const Eigen::Matrix<double, 5, 5>& a);
Eigen::Matrix<double, 12, 12> psd_projection(const Eigen::Matrix<double, 12, 12>& a);

}  // namespace apart
