#pragma once
#include <apart/core/types.hpp>
#include <apart/verify/cell_determinant.hpp>

namespace apart::verify {

/// Proof that curved tetrahedra of one degree n are nowhere inverted, neither in a state nor on the straight
/// way to another.
///
/// Where all coefficients of the determinant (CellPolynomials) are positive beyond their rounding, so is the
/// determinant; otherwise the cell and the time are halved. What rounding leaves undecided is decided in
/// fractions. Shares nothing with the solver's bound (basis/jacobian_bound), which fits polynomials to values
/// of the derivative.
class CurvedProof {
 public:
  explicit CurvedProof(int degree);

  /// Time up to which the determinant is proven positive everywhere while the points of a cell (3 × n) move
  /// from one place to another: 1 if throughout, 0 if not even at the start.
  double proven_until(const Matrix3X& from, const Matrix3X& to) const;
  /// Smallest Bernstein coefficient of the determinant in a state: not above its smallest value.
  double smallest_coefficient(const Matrix3X& points) const;

 private:
  using Real = long double;

  CellSlopes<Real> slopes(const Matrix3X& points) const;
  CellDeterminant<Real> determinant(const Matrix3X& from, const Matrix3X& to, Real& error) const;

  CellPolynomials cell_;
  Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>
      from_points_;  ///< coefficients c = from_points_ · points
};

}  // namespace apart::verify
