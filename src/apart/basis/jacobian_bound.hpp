#pragma once
#include <apart/basis/bernstein.hpp>

namespace apart {

/// Whether curved tetrahedra of one degree n are turned inside out anywhere, not only at sample points.
///
/// The nodes x_a of such a tetrahedron make the map x(ξ) = Σ x_a φ_a(ξ). The determinant of its derivative is
/// a polynomial of degree 3(n − 1), with the Bernstein coefficients
///   c_γ = Σ_{α+β+δ=γ} C(α) C(β) C(δ) / C(γ) · det(a_α, b_β, c_δ),
/// a, b, c those of the three columns of the derivative. If all are positive the determinant is; if one at a
/// corner is not, the determinant is not there; else the tetrahedron is bisected. While nodes move along
/// straight lines each c_γ is a cubic polynomial of time, whose four Bernstein coefficients bound it alike.
///
/// Answers are rigorous: rounding is bounded, and what it leaves open counts as not proven.
class JacobianBound {
 public:
  /// `degree`: n of the nodes, from 1 to largest_degree.
  explicit JacobianBound(int degree);
  int degree() const { return degree_; }
  Index node_count() const { return Index(derivative_[0].cols()); }
  /// Of the determinant, 3 (n − 1).
  const BernsteinTetrahedron& determinant_basis() const { return determinant_; }

  /// c_γ, in the order of determinant_basis().lattice(). `nodes`: 3 × node_count().
  VectorX coefficients(const Matrix3X& nodes) const;

  /// Smallest value of the determinant found on the tetrahedron, and where; the true minimum is not below
  /// `bound`.
  struct Smallest {
    double bound = 0;
    double value = 0;
    Vector3 xi;
  };
  /// Bisects until value and bound differ by less than `accuracy` of the largest coefficient, or the bound
  /// is positive and half the value.
  Smallest smallest(const Matrix3X& nodes, double accuracy = 1e-3) const;

  /// Proof that the determinant is positive on the whole tetrahedron, at every time of the straight path from
  /// one state of the nodes to another (which may be the same state).
  bool is_positive(const Matrix3X& from, const Matrix3X& to) const;

  /// Largest α ∈ [0, 1] found for which the determinant, at every point and every time up to α of the
  /// straight path from one state of the nodes to another, keeps the share 1 − shrink of its value at the
  /// start. Conservative; for α < 1, that the path to the state there as it is then rounded is free is for
  /// is_positive to prove. 0 if the determinant is not proven to be positive at the start.
  double feasible_step(const Matrix3X& from, const Matrix3X& to, double shrink = 0.8) const;

 private:
  static constexpr int most_slopes = tetrahedron_lattice_size(largest_degree - 1),
                       most_areas = tetrahedron_lattice_size(2 * (largest_degree - 1)),
                       most_determinants = tetrahedron_lattice_size(3 * (largest_degree - 1));
  using TimeCoefficients = Eigen::Matrix<double, 4, Eigen::Dynamic, Eigen::ColMajor, 4, most_determinants>;
  /// Bernstein coefficients in time (4 rows) and space of the determinant from one state to another.
  TimeCoefficients coefficients_in_time(const Matrix3X& from, const Matrix3X& to) const;
  /// Bound on the error of each of those by rounding.
  double rounding_error(const Matrix3X& from, const Matrix3X& to) const;
  struct Product {
    Index first, second, sum;  ///< lattice points of the factors and of their product
    double weight;             ///< C(first) C(second) / C(sum)
  };
  static std::vector<Product> products(const BernsteinTetrahedron& first, const BernsteinTetrahedron& second,
                                       const BernsteinTetrahedron& product);

  int degree_;
  BernsteinTetrahedron slope_, area_, determinant_;  ///< degrees n − 1, 2 (n − 1), 3 (n − 1)
  /// Coefficients of ∂x/∂ξ_k = Σ nodes · derivative_[k]ᵀ.
  std::array<Eigen::MatrixXd, 3> derivative_;
  double derivative_weight_ = 0;  ///< largest sum of magnitudes in a row of derivative_
  std::vector<Product> areas_, volumes_;
};

}  // namespace apart
