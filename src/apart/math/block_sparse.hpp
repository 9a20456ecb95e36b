#pragma once
#include <apart/core/types.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace apart {

/// A pair of block indices (row ≥ column) as one sortable number: column major, as the matrix is stored.
using BlockKey = std::uint64_t;
inline BlockKey block_key(Index i, Index j) {
  const auto [row, column] = i >= j ? std::pair{i, j} : std::pair{j, i};
  return (BlockKey(std::uint32_t(column)) << 32) | std::uint32_t(row);
}

/// Symmetric matrix of 3×3 blocks. The lower triangle is stored, block column by block column; each block,
/// also those on the diagonal, is stored whole and together, column by column.
class BlockSparse {
 public:
  BlockSparse() = default;
  /// The pattern: sorted distinct keys; all diagonal blocks are included whether named or not.
  BlockSparse(Index block_count, std::span<const BlockKey> keys);

  Index block_count() const { return Index(start_.size()) - 1; }
  void set_zero() { std::fill(values_.begin(), values_.end(), 0.0); }
  /// Position of block (i, j), i ≥ j; −1 if it is not in the pattern.
  Index find(Index i, Index j) const;
  /// The same. Throws InvariantError if it is not in the pattern.
  Index slot(Index i, Index j) const;
  /// Adds to the block at `slot`.
  void add(Index slot, const Matrix3& block) { block_at(slot) += block; }
  /// The block at `slot`.
  Matrix3 block(Index slot) const {
    return Eigen::Map<const Matrix3>(values_.data() + 9 * std::size_t(slot));
  }
  double at(Index row, Index column) const;
  double& at(Index row, Index column);  ///< scalar entry in the stored triangle or a diagonal block

  /// y = A x for 3·block_count() numbers.
  VectorX multiply(const VectorX& x) const;

  std::span<const Index> column_start() const { return start_; }  ///< in blocks
  /// Rows of the blocks, ascending in each column.
  std::span<const Index> block_rows() const { return rows_; }
  std::span<const double> values() const { return values_; }
  std::span<double> values() { return values_; }

 private:
  Eigen::Map<Matrix3> block_at(Index slot) {
    return Eigen::Map<Matrix3>(values_.data() + 9 * std::size_t(slot));
  }
  std::vector<Index> start_ = {0};
  std::vector<Index> rows_;
  AlignedBuffer values_;  ///< nine per block
};

}  // namespace apart
