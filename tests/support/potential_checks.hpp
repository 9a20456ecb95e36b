#pragma once
#include <apart/potentials/potential.hpp>

#include <string>

namespace apart::test {

struct PotentialCheck {
  double epsilon = 1e-6;         ///< step of the differences, in the unit of x
  double gradient_error = 1e-6;  ///< relative
  double hessian_error = 1e-5;   ///< relative
  bool nearest = true;           ///< the projection is the nearest one in the space of the points
};

/// The sum of the potential's local Hessians as one dense matrix.
Eigen::MatrixXd dense_hessian(const Potential& potential, const Matrix3X& x, Projection projection);

/// The contract of Potential at x: gradient is the derivative of the value, Hessian that of the gradient, and
/// the projected Hessian of each term is positive semi-definite and not below its Hessian; with `nearest`,
/// the nearest such.
void expect_potential_contract(Potential& potential, const Matrix3X& x, const std::string& where,
                               const PotentialCheck& check = {});

}  // namespace apart::test
