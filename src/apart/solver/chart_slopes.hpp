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

/// How nodes move with the unknowns of their charts, J = ∂q/∂y, at one q.
class ChartSlopes {
 public:
  /// Keeps a reference.
  explicit ChartSlopes(const Chart& chart);
  void update(const Matrix3X& q);
  /// Of a point Σ wᵢ qᵢ with one unknown of the body `part` that all its nodes belong to.
  Slope of(Index part, Index unknown, std::span<const Influence> influences) const;

 private:
  const Chart& chart_;
  std::vector<std::size_t> first_;          ///< of each part, in slopes_, and their end
  std::vector<Matrix3> slopes_;             ///< part by part, unknown by unknown, node by node
  std::vector<char> is_shift_;              ///< of each unknown of each part: it moves all nodes alike
  std::vector<std::size_t> first_unknown_;  ///< of each part, in is_shift_
};

}  // namespace apart
