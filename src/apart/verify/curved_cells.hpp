#pragma once
#include <apart/core/types.hpp>

#include <array>
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
  using Vector = Eigen::Matrix<Real, 3, 1>;
  using Exponents = std::array<int, 4>;
  /// Coefficients in time, 0 to 3, of each coefficient in space.
  using Determinant = std::vector<std::array<Real, 4>>;
  /// A pair of coefficients of two factors, and what their product counts in a coefficient of the product.
  struct Product {
    std::size_t first, second, sum;
    Real weight;
  };
  static std::vector<Product> products(const std::vector<Exponents>& first,
                                       const std::vector<Exponents>& second,
                                       const std::vector<Exponents>& product);

  /// Coefficients of the slopes in the three directions.
  std::array<std::vector<Vector>, 3> slopes(const Matrix3X& points) const;
  Determinant determinant(const Matrix3X& from, const Matrix3X& to, Real& error) const;
  bool is_positive(const Determinant& d, Real error, int depth) const;

  int degree_;
  std::vector<Exponents> lattice_;  ///< of the points of a cell, in their order
  Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>
      from_points_;  ///< coefficients c = from_points_ · points
  /// Of each coefficient of the three slopes: those of the cell whose difference it is, first minus second.
  std::array<std::vector<std::array<Eigen::Index, 2>>, 3> differences_;
  std::vector<Product> areas_, volumes_;
  int determinant_degree_;
  std::array<std::size_t, 4> corners_;  ///< coefficients of the determinant there
  /// Coefficients of the determinant along the lines from corner a to corner b, for each pair that is halved.
  std::array<std::vector<std::vector<std::size_t>>, 6> lines_;
};

}  // namespace apart::verify
