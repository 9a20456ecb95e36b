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

  using Nodes = Eigen::Ref<const Matrix3X>;  ///< 3 × node_count()

  /// Of a tetrahedron to one of its parts: about four rounds of all edges, to a sixteenth of its size.
  static constexpr int most_bisections = 24;

  /// c_γ, in the order of determinant_basis().lattice().
  VectorX coefficients(const Nodes& nodes) const;

  /// Smallest value of the determinant found on the tetrahedron, and where; the true minimum is not below
  /// `bound`.
  struct Smallest {
    double bound = 0;
    double value = 0;
    Vector3 xi;
  };
  /// Bisects until value and bound differ by less than `accuracy` of the largest coefficient, or the bound
  /// is positive and half the value.
  Smallest smallest(const Nodes& nodes, double accuracy = 1e-3) const;

  /// Whether a polynomial with the degree of the determinant and these coefficients is positive on the whole
  /// tetrahedron. False if bisecting does not decide it. Rounding is not accounted for.
  bool is_positive(const VectorX& coefficients) const;

  /// Proof that the determinant is positive on the whole tetrahedron, at every time of the straight path from
  /// one state of the nodes to another (which may be the same state).
  bool is_positive(const Nodes& from, const Nodes& to) const;

  /// Largest α ∈ [0, 1] found for which the determinant, at every point and every time up to α of the
  /// straight path from one state of the nodes to another, keeps the share 1 − shrink of its value at the
  /// start. Conservative: it is positive as well on the path to every state before α whose coordinates are
  /// off by rounding (largest_shifts). 0 if the determinant is not proven to be positive at the start.
  double feasible_step(const Nodes& from, const Nodes& to, double shrink = 0.8) const;

  /// How large the derivative is at one state of the nodes. States nearby have coefficients of the
  /// determinant that differ by no more than largest_change(), so that most questions about them need none.
  struct Extent {
    Vector3 slopes = Vector3::Zero();  ///< largest norms of the coefficients of ∂x/∂ξ_k
    double distance = 0;               ///< largest difference of coordinates from the first node
    double coordinate = 0;             ///< largest
    double rounding = 0;               ///< of coefficients, with everything twice as large
  };
  Extent extent(const Nodes& nodes) const;
  /// The larger one of two displacements.
  struct Displacement {
    double of_first = 0;               ///< largest coordinate at the first node
    Vector3 slopes = Vector3::Zero();  ///< as of Extent
  };
  /// Of displacements of nodes. Their degree may be lower than that of the tetrahedron.
  Displacement larger(const Nodes& one, const Nodes& other) const;
  /// Bound on how much any coefficient of the determinant differs from that at the state that has the extent,
  /// at displaced states and, in space and time, on the straight path from one to another. Includes what
  /// rounding does to the answers of is_positive() and feasible_step(). Infinite if they are too far.
  static double largest_change(const Extent& extent, const Displacement& displacement);
  /// Whether feasible_step() is 1 for certain: the whole path, if the smallest coefficient at that state is
  /// as given and no other one differs by more than `change`.
  static bool is_feasible(double smallest, double change, double shrink = 0.8) {
    return shrink * smallest > (2 - shrink) * change;
  }

 private:
  static constexpr int most_nodes = tetrahedron_lattice_size(largest_degree),
                       most_slopes = tetrahedron_lattice_size(largest_degree - 1),
                       most_areas = tetrahedron_lattice_size(2 * (largest_degree - 1)),
                       most_determinants = tetrahedron_lattice_size(3 * (largest_degree - 1));
  /// Of the coefficients of the derivative at each of two states, multiplied by C(α): columns ∂x/∂ξ_k of each
  /// α side by side; rows 0 to 2 at the first state, 4 to 6 at the second one, others zero.
  using Slopes = Eigen::Matrix<double, 8, Eigen::Dynamic, Eigen::ColMajor, 8, 3 * most_slopes>;
  Slopes slopes(const Nodes& from, const Nodes& to) const;
  using TimeCoefficients = Eigen::Matrix<double, 4, Eigen::Dynamic, Eigen::ColMajor, 4, most_determinants>;
  /// Bernstein coefficients in time (4 rows) and space of the determinant from one state to another.
  TimeCoefficients coefficients_in_time(const Slopes& slopes) const;
  /// Bounds on the errors of those by rounding, for each of the four in time, if coordinates are off in
  /// addition, by `shifts` at the start and at the end of the path and by the average in between.
  Vector4 rounding_errors(const Slopes& slopes, const Nodes& from, const Nodes& to,
                          std::array<double, 2> shifts = {}) const;
  /// Where α + β is in the lattice of the sum, for each α and, within, each β.
  static std::vector<Index> sums(const BernsteinTetrahedron& first, const BernsteinTetrahedron& second,
                                 const BernsteinTetrahedron& sum);

  int degree_;
  BernsteinTetrahedron slope_, area_, determinant_;  ///< degrees n − 1, 2 (n − 1), 3 (n − 1)
  /// Of each α the coefficients of ∂x/∂ξ_k (row k), times C(α), as sums over the nodes.
  std::vector<Matrix3X> derivative_;
  double derivative_weight_ = 0;  ///< largest sum of magnitudes in one of these rows, without C(α)
  std::vector<Index> area_sums_, volume_sums_;
  VectorX inverse_multinomials_;        ///< 1 / C(γ) of the determinant
  VectorX inverse_slope_multinomials_;  ///< 1 / C(α) of the derivative
};

}  // namespace apart
