#pragma once
// The polynomials of curved tetrahedra of one degree n, which proofs in floating point and in fractions
// share.
#include <array>
#include <cstddef>
#include <vector>

namespace apart::verify {

/// Powers of the four barycentric coordinates.
using Exponents = std::array<int, 4>;

/// Multinomial coefficient n! / Π αᵢ!, an integer without rounding.
double multinomial(const Exponents& alpha);

/// With Bernstein polynomials the map of a cell is Σ c_α B_α(λ). Its derivative in the direction from corner
/// 0 to corner k has the coefficients n (c_{α+e_k} − c_{α+e_0}), and the determinant of the three is a
/// polynomial of degree 3(n − 1), the product of the areas of the first two, of degree 2(n − 1), and the
/// third.
struct CellPolynomials {
  explicit CellPolynomials(int degree);

  /// A pair of coefficients of two factors; their product has the weight numerator/denominator, which are
  /// integers, in a coefficient of the product.
  struct Product {
    std::size_t first, second, sum;
    double numerator, denominator;
    long double weight;
  };

  int degree, determinant_degree;
  std::vector<Exponents> lattice;  ///< of the points of a cell, in their order, and of its coefficients
  /// Of each coefficient of the three slopes: those of the cell whose difference it is, first minus second.
  std::array<std::vector<std::array<std::size_t, 2>>, 3> differences;
  std::vector<Product> areas, volumes;
  std::size_t area_count, determinant_count;  ///< coefficients
  std::array<std::size_t, 4> corners;         ///< coefficients of the determinant there
  /// The edges that are halved, each in its turn: coefficients of the determinant along the lines from its
  /// first corner to its second.
  std::array<std::vector<std::vector<std::size_t>>, 6> lines;
};

}  // namespace apart::verify
