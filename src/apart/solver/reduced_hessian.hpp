#pragma once
#include <apart/bodies/chart.hpp>
#include <apart/math/block_sparse.hpp>
#include <apart/potentials/potential.hpp>
#include <apart/solver/free_coordinates.hpp>

#include <utility>
#include <vector>

namespace apart {

/// Second derivatives in the unknowns, from those in the nodes: Jᵀ H J + Σ gₖ · ∂²qₖ/∂y². Where bodies have
/// charts of their own, terms are summed over nodes first, and what the chart's curvature adds can make a sum
/// indefinite: so with Projection::psd the block of each such body is made positive semi-definite as a whole,
/// once.
class ReducedHessian {
 public:
  /// `h`: of the nodes that have a block in `free_nodes`. `g`: the gradient in all nodes.
  const BlockSparse& reduce(const Chart& chart, const Matrix3X& q, const Matrix3X& g, const BlockSparse& h,
                            const FreeCoordinates& free_nodes, const FreeCoordinates& free_unknowns,
                            Projection projection);
  const BlockSparse& matrix() const { return matrix_; }
  bool take_pattern_change() { return std::exchange(pattern_changed_, false); }

 private:
  std::vector<BlockKey> keys_;
  BlockSparse matrix_;
  bool pattern_changed_ = false;
};

/// The nodes that terms are assembled on if these unknowns may move: bodies with a chart that can move have
/// all theirs.
FreeCoordinates assembled_nodes(const Chart& chart, const FreeCoordinates& free_unknowns);

}  // namespace apart
