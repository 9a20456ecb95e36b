#pragma once
#include <apart/core/types.hpp>

#include <array>
#include <map>
#include <vector>

namespace apart::verify {

/// Proof that curved tetrahedra of one degree n are nowhere inverted, neither in a state nor on the straight
/// way to another.
///
/// With Bernstein polynomials the map of a cell is Σ c_α B_α(λ). Its derivative in the direction from corner
/// 0 to corner k has the coefficients n (c_{α+e_k} − c_{α+e_0}), and the determinant of the three is a
/// polynomial of degree 3(n − 1) in space and, on a path, of degree 3 in time. Where all its coefficients are
/// positive, so is the determinant; otherwise the cell and the time are halved. Shares nothing with the
/// solver's bound (basis/jacobian_bound), which fits polynomials to values of the derivative.
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
  using Exponents = std::array<int, 4>;
  using Vector = Eigen::Matrix<Real, 3, 1>;
  /// Coefficients of a polynomial, by exponents.
  template <class Value>
  using Polynomial = std::map<Exponents, Value>;
  /// Coefficients in time, 0 to 3, of each coefficient in space.
  using Determinant = Polynomial<std::array<Real, 4>>;

  Polynomial<Vector> slope(const Matrix3X& points, int direction) const;
  Determinant determinant(const Matrix3X& from, const Matrix3X& to, Real& error) const;
  static bool is_positive(Determinant d, Real error, int depth);

  int degree_;
  std::vector<Exponents> lattice_;  ///< of the points of a cell, in their order
  Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>
      from_points_;  ///< coefficients c = from_points_ · points
};

}  // namespace apart::verify
