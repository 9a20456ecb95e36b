#pragma once
#include <apart/basis/lagrange_tetrahedron.hpp>

#include <span>

namespace apart {

/// A polynomial of degree m on a tetrahedron in Bernstein form, Σ c_γ C(γ) λ^γ over the lattice of degree m,
/// with the multinomials C(γ) = m! / Π γ_j!. Inside the tetrahedron it lies between the smallest and the
/// largest coefficient, and at the corners it is the coefficient there.
///
/// The same polynomial on a half of the tetrahedron has coefficients that are averages of these (de
/// Casteljau): the halves bound it more closely.
class BernsteinTetrahedron {
 public:
  explicit BernsteinTetrahedron(int degree);
  int degree() const { return degree_; }
  Index size() const { return Index(lattice_.size()); }
  const std::vector<LatticePoint>& lattice() const { return lattice_; }
  Index index_of(const LatticePoint& gamma) const;
  /// C(γ).
  static double multinomial(const LatticePoint& gamma);

  /// The polynomial on the halves that remain if the edge from corner a to corner b is cut in the middle: the
  /// one in which the middle takes the place of b replaces `coefficients`, the other one is returned.
  /// `coefficients`: any number of polynomials, one row each.
  Eigen::MatrixXd bisect(Eigen::MatrixXd& coefficients, int a, int b) const;
  /// The same with room for the other half.
  using Rows = Eigen::Ref<Eigen::MatrixXd>;
  void bisect(Rows coefficients, int a, int b, Rows other) const;
  /// The transposed map: weights of the coefficients on the half that keeps corner a become, with those on
  /// the other one, weights of the coefficients on the whole. Destroys `other`.
  void unite(Rows at_a, Rows other, int a, int b) const;

  /// Coefficients of the polynomial of this degree that has given values at the points of the lattice:
  /// coefficients = matrix · values.
  Eigen::MatrixXd from_lattice_values() const;

 private:
  /// Of the coefficient `here` and its neighbour along an edge; once done it may be one of the other half.
  struct Halving {
    Index here, before;
    Index other = -1;  ///< which coefficient of the other half it is; −1: none
  };
  /// What cuts the edge from a to b: all halvings in turn.
  std::vector<Halving> halvings(int a, int b) const;
  template <int rows>
  void bisect_rows(const std::vector<Halving>& halvings, Rows& coefficients, Rows& other) const;
  template <int rows>
  void unite_rows(const std::vector<Halving>& halvings, Rows& at_a, Rows& other) const;

  int degree_;
  std::vector<LatticePoint> lattice_;
  std::vector<Index> place_;  ///< of a lattice point in lattice_, by γ₁, γ₂, γ₃
  std::array<std::array<std::vector<Halving>, 4>, 4> halvings_;  ///< by a and b
};

using BernsteinCorners = Eigen::Matrix<double, 3, 4>;  ///< ξ of the corners of a part
/// Those of the reference tetrahedron itself.
BernsteinCorners reference_corners();
/// The first of the longest ones.
std::array<int, 2> longest_edge(const BernsteinCorners& corners);

/// A part of the reference tetrahedron with polynomials on it.
struct BernsteinPart {
  BernsteinCorners corners;
  Eigen::MatrixXd coefficients;  ///< one row for each polynomial
  int depth = 0;                 ///< bisections that led to it
};

/// All of it.
BernsteinPart whole_tetrahedron(const Eigen::MatrixXd& coefficients);
/// Cuts the longest edge in the middle: the part becomes one half, the other is returned.
BernsteinPart bisect_longest(const BernsteinTetrahedron& basis, BernsteinPart& part);

}  // namespace apart
