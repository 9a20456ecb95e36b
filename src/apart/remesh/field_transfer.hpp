#pragma once
#include <apart/bodies/body.hpp>
#include <apart/remesh/corners.hpp>

#include <span>
#include <vector>

namespace apart {

/// A field of a mesh whose edges were split, with the mean of its ends at each midpoint, which come last, in
/// order: the same function. Ends may be midpoints created before.
Matrix3X with_midpoints(const Matrix3X& field, std::span<const std::array<Index, 2>> edges);

/// Takes fields from one mesh of a volume, a planar body or a shell to another on the same rest shape, or one
/// near it, whose points are some of its points or lie in its cells.
///
/// The new field is the nearest one, ∫ρ |u₂ − u₁|² is smallest: M₂ u₂ = A u₁ with a_ij = ∫ρ φ²_i φ¹_j over
/// the rest shape [thesis eq. 6.6–6.7, with density]. So momentum ∫ρ u stays, and ∫ρ |u|² never grows.
/// Written as a correction of the values that the points have already, M₂ δ = ∫ρ φ²_i (u₁ − I u₁), its
/// right-hand side is zero but in the cells that have changed: those are cut at each other, and the products
/// integrated exactly. Where the rest shape changes, u₁ goes on as I u₁ in what is new.
class CollapseTransfer {
 public:
  using Mask = Eigen::Array<bool, 3, Eigen::Dynamic>;
  /// `points`: of `after`, where they are in `before`. `reshapes`: the rest shape may change, and distances
  /// are asked for. Keeps references.
  CollapseTransfer(const Body& before, const Body& after, std::vector<Blend> points, bool reshapes = false);

  /// I u₁: the values at the points.
  Matrix3X restricted(const Matrix3X& before) const;
  /// δ, zero where `held` is true and of points without mass. Of any number of columns like `before`.
  Matrix3X correction(const Matrix3X& before, const Mask& held) const;
  /// ½∫ρ |q − u₁|² − ½∫ρ |q − u₂|² of fields q and u₂ of the new mesh: what a square distance from u₁ lacks
  /// if it is computed from u₂ = I u₁ + δ instead. If u₂ is nearest to u₁, the same for all q.
  double lost_distance(const Matrix3X& before, const Matrix3X& after, const Matrix3X& q) const;

  /// ∫ρ φ²_i (u₁ − I u₁) = Σ weight · u₁ of points of `before` [kg].
  struct Entry {
    Index point, source;
    double weight;
  };

 private:
  Matrix3X residual(const Matrix3X& before) const;

  const Body &before_, &after_;
  std::vector<Blend> points_;
  std::vector<Entry> entries_;
  bool reshapes_;
  std::vector<Entry>
      squares_;  ///< ∫ρ |u₁ − I u₁|² = Σ weight · u₁ · u₁ of points of `before`, if it reshapes
};

/// Adds ∫ρ |u₁ − I u₁|² over a part of a cell: shape functions of the cells of either mesh at its corners are
/// given, as columns, and the weight of ∫ f g = weight (Σ f g + Σ f Σ g) of functions linear in the part.
void add_squares(std::span<const Index> old_points, const Eigen::MatrixXd& old_values,
                 std::span<const Blend> new_points, const Eigen::MatrixXd& new_values, double weight,
                 std::vector<CollapseTransfer::Entry>& squares);
/// The number of a point in the mesh before; −1: it was none.
Index number_of(const Blend& point);
/// Adds −weight · u₁ at `source` to the entries of a point.
void subtract(const Blend& source, Index point, double weight, std::vector<CollapseTransfer::Entry>& entries);

}  // namespace apart
