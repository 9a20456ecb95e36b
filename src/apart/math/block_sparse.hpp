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

/// Symmetric matrix of 3×3 blocks. The lower triangle is stored, block column by block column, as plain
/// compressed scalar columns, so that a direct solver reads `values` as they are; diagonal blocks are stored
/// whole.
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
  /// Adds `block` to the block at `slot` in block column `j`.
  void add(Index slot, Index j, const Matrix3& block);
  /// The block at `slot` in block column `j`.
  Matrix3 block(Index slot, Index j) const;
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
  std::vector<Index> start_ = {0};
  std::vector<Index> rows_;
  /// 9 per block: column c of block k of block column j is at 9·start + 3·(c·len + k)
  AlignedBuffer values_;
};

}  // namespace apart
