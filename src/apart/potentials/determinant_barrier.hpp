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
    VectorX rest;  ///< c_γ at rest, of the whole cell
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
    MatrixBuffer by_coefficient, slopes, of_coefficients, columns, crossed, hessian;
  };

  /// The smallest r_γ on all parts, at the nodes of the cell, 3 × n.
  double smallest_ratio(const Resistance& resistance, const Nodes& nodes, Room& room) const;
  /// B at the nodes of the cell, 3 × n. Infinite where a coefficient is not positive.
  double value(const Resistance& resistance, const Nodes& nodes, Room& room) const;
  /// Derivatives in the nodes, 3 × n.
  Nodes gradient(const Resistance& resistance, const Nodes& nodes, Room& room) const;
  /// 3 n × 3 n, as it is, in `room` until that is used again.
  Matrix hessian(const Resistance& resistance, const Nodes& nodes, Room& room) const;

 private:
  using Coefficients = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, most_coefficients, 1>;
  /// ∂x/∂ξ at each point of the lattice of the determinant, side by side.
  using Slopes = Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::ColMajor, 3, 3 * most_coefficients>;
  Slopes slopes(const Resistance& resistance, const Nodes& nodes) const;
  static Coefficients determinants(const Slopes& slopes);
  /// Parts with r_γ ≤ `ratio`, from determinants at the lattice.
  BernsteinParts::Low low_parts(const Resistance& resistance, const Coefficients& determinants, double ratio,
                                Room& room) const;
  /// The first and second derivatives of B in c_γ of those parts, in two columns.
  Matrix by_coefficient(const Resistance& resistance, const BernsteinParts::Low& low, Room& room) const;
  /// The derivative of B in the determinants at the lattice.
  Coefficients by_determinant(const Resistance& resistance, const BernsteinParts::Low& low,
                              Matrix by_coefficient, Room& room) const;

  JacobianBound bound_;
  Eigen::MatrixXd fit_;            ///< coefficients = fit · determinants
  std::vector<Matrix3X> basis_;    ///< ∂N_a/∂ξ of the displacements at each point of the lattice
  std::vector<Matrix3X> lattice_;  ///< the same of the lattice of the cell
  /// ∇N_a × ∇N_b at each point of the lattice, one below the other, of the pairs b < a of nodes.
  Eigen::MatrixXd crossed_;
};

}  // namespace apart
