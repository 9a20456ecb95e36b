#pragma once
#include <apart/core/types.hpp>

namespace apart {

/// The nearest positive semi-definite matrix (Frobenius): negative eigenvalues set to zero. Reads the lower
/// triangle.
Matrix3 psd_projection(const Matrix3& a);
Eigen::Matrix2d psd_projection(const Eigen::Matrix2d& a);
Eigen::Matrix4d psd_projection(const Eigen::Matrix4d& a);
Eigen::Matrix<double, 5, 5> psd_projection(const Eigen::Matrix<double, 5, 5>& a);
Eigen::Matrix<double, 9, 9> psd_projection(const Eigen::Matrix<double, 9, 9>& a);
/// The same for the Hessian of a function of four points that does not change when all move together, which
/// leaves nine dimensions of the twelve. Reads the whole matrix.
Eigen::Matrix<double, 12, 12> psd_projection_of_four_points(const Eigen::Matrix<double, 12, 12>& a);

enum class NegativeEigenvalues { zeroed, mirrored };  ///< set to zero, or to their absolute values
inline constexpr int most_rows_made_positive = 105;   ///< the nodes of a cell of degree 4
/// Changes the negative eigenvalues of a symmetric matrix of up to so many rows, in place and without
/// allocation. Reads the lower triangle.
void make_positive(Eigen::Ref<Eigen::MatrixXd> a, NegativeEigenvalues negative);

}  // namespace apart
