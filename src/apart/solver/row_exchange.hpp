#pragma once
#include <apart/core/team.hpp>
#include <apart/math/block_sparse.hpp>

#include <cstdint>
#include <vector>

namespace apart {

/// Which of a symmetric matrix's triangles.
enum class Triangles { upper, both };

/// A symmetric matrix of 3×3 blocks of which each process of a team has a summand, put together by rows:
/// block rows are numbered anew, so that each process has consecutive ones, and every block goes to the
/// process of its row, which adds what comes in the order of ranks. Made for a pattern, and then used for
/// matrices that have it.
class RowExchange {
 public:
  /// `owner`: the process of each block row, the same on all processes. Keeps a reference to the team.
  RowExchange(const Team& team, const BlockSparse& summand, const std::vector<int>& owner,
              Triangles triangles = Triangles::upper);
  /// The process that has most blocks of each row, so that few of them are sent.
  static std::vector<int> owners(const Team& team, const BlockSparse& summand);

  Index first_row() const { return first_; }  ///< of this process, in the new order
  Index row_count() const { return Index(start_.size()) - 1; }
  const std::vector<Index>& number() const { return number_; }    ///< new one of each block row
  const std::vector<Index>& start() const { return start_; }      ///< of the blocks of each own row
  const std::vector<Index>& columns() const { return columns_; }  ///< new numbers, ascending in each row
  /// The blocks of this process's rows: nine numbers each, column by column.
  const std::vector<double>& collect(const BlockSparse& summand);

 private:
  struct Place {
    Index slot;  ///< of a block of the summand
    bool transposed;
  };
  const Team& team_;
  Index first_ = 0;
  std::vector<Index> number_, start_, columns_;
  std::vector<std::vector<Place>> sent_;      ///< to each process
  std::vector<std::vector<Index>> received_;  ///< from each process: places in values_
  std::vector<double> values_;
};

}  // namespace apart
