#pragma once
#include <apart/bodies/chart.hpp>
#include <apart/bodies/linear_map.hpp>

#include <span>
#include <vector>

namespace apart {

/// ∂(point)/∂(unknown): weight · I, or any matrix.
struct Slope {
  double weight = 1;
  bool is_scalar = true;
  Matrix3 matrix = Matrix3::Zero();  ///< unless it is scalar

  /// (∂(point)/∂(unknown))ᵀ M
  Matrix3 from_left(const Matrix3& m) const {
    return is_scalar ? Matrix3(weight * m) : Matrix3(matrix.transpose() * m);
  }
};

/// (∂(point)/∂(unknowns))ᵀ for a body with two unknowns, and two rows of zeros that make columns whole
/// packets.
using PaddedSlope = Eigen::Matrix<double, 8, 3>;

/// How nodes move with the unknowns of their charts, J = ∂q/∂y, at one q.
class ChartSlopes {
 public:
  /// Keeps a reference.
  explicit ChartSlopes(const Chart& chart);
  void update(const Matrix3X& q);
  /// Of a point Σ wᵢ qᵢ with one unknown of the body `part` that all its nodes belong to.
  Slope of(Index part, Index unknown, std::span<const Influence> influences) const;
  /// The same with both unknowns of a body that has two.
  PaddedSlope transposed(Index part, std::span<const Influence> influences) const;

 private:
  const Chart& chart_;
  std::vector<std::size_t> first_;          ///< of each part, in slopes_, and their end
  std::vector<Matrix3> slopes_;             ///< part by part, unknown by unknown, node by node
  std::vector<PaddedSlope> transposed_;     ///< of the nodes of parts with two unknowns; of others nothing
  std::vector<std::size_t> first_node_;     ///< of each part, in transposed_
  std::vector<char> is_shift_;              ///< of each unknown of each part: it moves all nodes alike
  std::vector<std::size_t> first_unknown_;  ///< of each part, in is_shift_
};

}  // namespace apart
