#pragma once
#include <apart/basis/bernstein_parts.hpp>
#include <apart/basis/jacobian_bound.hpp>

namespace apart {

/// Resistance of curved cells against being turned inside out, everywhere and not only at quadrature points.
///
/// However many quadrature points there are, ∫Ψ stays finite where the determinant vanishes at a single
/// place, and strong forces on a corner then lead there: the step bound of the cell stops every iteration.
/// So a cell that is nearly inverted gets a barrier on the Bernstein coefficients of its determinant, on
/// parts of it that are small enough for the coefficients to be close to the determinant:
///
///   B = stiffness Σ_parts Σ_γ b(r_γ / r̂),  r_γ = c_γ / c_γ at rest,  b(s) = −(s − 1)² ln s for s < 1, else
///   0.
///
/// r_γ of a cell in uniform strain is its volume ratio. B is zero, with all its derivatives up to the second,
/// where every coefficient is larger than the share r̂ of that at rest.
class DeterminantBarrier {
 public:
  /// For cells with displacements of degree p, whose lattice has the degree n ≥ p.
  DeterminantBarrier(int degree, int lattice_degree);

  using Parts = std::vector<BernsteinPath>;

  /// A cell as it is at rest.
  struct Shape {
    const Matrix3X& rest;    ///< lattice
    const Matrix3X& offset;  ///< lattice of what is added to the displaced one, or empty
  };

  /// Parts of a cell, with its lattice at x, whose coefficients come below 4 r̂ and are not far below the
  /// determinant: those that are get bisected. `smallest`: the smallest ratio of determinants. The parts that
  /// the cell has are kept, or bisected further. If the determinant is proven to be positive (JacobianBound)
  /// every coefficient on them is.
  Parts parts(const Shape& shape, const Matrix3X& x, double reach, double smallest, const Parts& kept) const;

  /// What resists in one cell.
  struct Resistance {
    double reach = 0;      ///< r̂
    double stiffness = 0;  ///< [J], or [kg m²] if it is that of an incremental potential
    BernsteinParts parts;
    Eigen::ArrayXd inverse_rest;  ///< 1 / c_γ at rest, of each part
    /// Derivatives of the offset at the lattice of the determinant, one 3 × 3 block below the other; or
    /// empty.
    Eigen::MatrixXd offset;
  };
  Resistance resistance(const Shape& shape, const Parts& parts, double reach, double stiffness) const;

  /// A cell has at most so many nodes, and its determinant so many coefficients.
  static constexpr int most_nodes = tetrahedron_lattice_size(largest_degree),
                       most_coefficients = tetrahedron_lattice_size(3 * (largest_degree - 1));
  using Nodes = Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::ColMajor, 3, most_nodes>;
  using Matrix = MatrixBuffer::Matrix;
  /// Memory for what is computed of one cell, used for one cell after the other: none of them allocates.
  class Room {
    friend DeterminantBarrier;
    BernsteinParts::Room parts;
    MatrixBuffer ratios, by_ratio, by_coefficient, slopes, of_coefficients, columns, hessian;
    std::vector<bool> resists;
  };

  /// r_γ of every part, at the nodes of the cell, 3 × n: a column, in `room` until that is used again.
  Matrix ratios(const Resistance& resistance, const Nodes& nodes, Room& room) const;
  /// B at the nodes of the cell, 3 × n. Infinite where a coefficient is not positive.
  double value(const Resistance& resistance, const Nodes& nodes, Room& room) const;
  /// Derivatives in the nodes, 3 × n.
  Nodes gradient(const Resistance& resistance, const Nodes& nodes, Room& room) const;
  /// 3 n × 3 n, as it is, in `room` until that is used again.
  Matrix hessian(const Resistance& resistance, const Nodes& nodes, Room& room) const;

 private:
  using Coefficients = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, most_coefficients, 1>;
  /// The derivative ∂x/∂ξ at point l of the lattice of the determinant.
  Matrix3 slope(const Resistance& resistance, const Nodes& nodes, std::size_t l) const;
  /// r_γ from determinants at the lattice.
  Matrix ratios_of(const Resistance& resistance, const Coefficients& determinants, Room& room) const;
  /// The derivative in the determinants at the lattice of a function with given derivatives in r_γ.
  Coefficients by_determinant(const Resistance& resistance, const Matrix& by_ratio, Room& room) const;

  JacobianBound bound_;
  Eigen::MatrixXd fit_;            ///< coefficients = fit · determinants
  std::vector<Matrix3X> basis_;    ///< ∂N_a/∂ξ of the displacements at each point of the lattice
  std::vector<Matrix3X> lattice_;  ///< the same of the lattice of the cell
};

}  // namespace apart
