#pragma once
#include <apart/core/types.hpp>

#include <utility>
#include <vector>

namespace apart {

/// Which coordinates may move: of the unknowns, in groups of three, or of the nodes, which are the same for
/// bodies without a chart of their own.
class FreeCoordinates {
 public:
  FreeCoordinates() = default;
  /// free(axis, node): true where the coordinate may move.
  explicit FreeCoordinates(Eigen::Array<bool, 3, Eigen::Dynamic> free);
  bool operator()(int axis, Index node) const { return free_(axis, node); }
  /// Block of a node in the linear system; −1 for a node that cannot move at all.
  Index block(Index node) const { return block_[std::size_t(node)]; }
  Index block_count() const { return Index(node_.size()); }
  Index node(Index block) const { return node_[std::size_t(block)]; }
  /// Whether the same nodes have blocks.
  bool has_blocks_of(const FreeCoordinates& other) const { return block_ == other.block_; }
  /// Scalar coordinates (block, axis) that are held although their node has a block.
  const std::vector<std::pair<Index, int>>& held() const { return held_; }

  /// The system's right-hand side order: three numbers per block, zero where held.
  VectorX restrict_to_free(const Matrix3X& g) const;
  /// Back to all nodes, zero where nothing can move.
  Matrix3X extend(const VectorX& r) const;

 private:
  Eigen::Array<bool, 3, Eigen::Dynamic> free_;
  std::vector<Index> block_, node_;
  std::vector<std::pair<Index, int>> held_;
};

}  // namespace apart
