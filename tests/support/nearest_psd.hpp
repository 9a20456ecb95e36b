#pragma once
#include <Eigen/Core>

namespace apart::test {

/// The nearest positive semi-definite matrix (Frobenius) by Eigen's solver, to compare projections with.
Eigen::MatrixXd nearest_psd(const Eigen::MatrixXd& symmetric);

Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& symmetric);  ///< ascending

}  // namespace apart::test
