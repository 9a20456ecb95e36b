#pragma once
#include <apart/math/block_sparse.hpp>
#include <apart/potentials/potential.hpp>
#include <apart/solver/chart_parts.hpp>
#include <apart/solver/chart_slopes.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

namespace apart {

/// Terms of one potential on one or two bodies with charts, such as contacts of rigid bodies. Second
/// derivatives of consecutive terms of the same bodies are summed in the unknowns of these, six of each, and
/// then added to the matrix together. Stored is what such a run of terms has in common, nothing per point.
class BodyPairTerms {
 public:
  /// Whether all terms of the potential are of this kind: up to four points, of at most two bodies whose
  /// charts have two unknowns; other points are held. `own`: terms [first, last) that are not to be left out.
  bool find(const Term& term, const PointMaps& maps, std::pair<Index, Index> own);
  /// visit(column, row) for the pairs of different blocks of all terms.
  template <class Visit>
  void for_each_pair(const Visit& visit) const {
    for (const Run& run : runs_)
      for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b < a; ++b)
          if (run.blocks[a] >= 0 && run.blocks[b] >= 0)
            visit(std::min(run.blocks[a], run.blocks[b]), std::max(run.blocks[a], run.blocks[b]));
  }
  /// Looks up where they are in a matrix; false if its pattern lacks one.
  bool locate(const BlockSparse& matrix);
  /// The same, if their places in an earlier matrix are known: `moved` has the new place of each of its
  /// blocks.
  void move(std::span<const Index> moved);
  /// Whether the terms are those of `other`, with the same blocks.
  bool equals(const BodyPairTerms& other) const;
  /// Whether a term adds to some of the columns; not if no point of it can move.
  bool touches(Index term, const BlockColumns& columns) const;
  bool begins_run(Index term) const { return run_of(term).begin == term; }
  /// Adds the contributions of the terms in `local`, whole runs, to some columns.
  void add(const LocalHessians& local, const PointMaps& maps, const ChartSlopes& slopes,
           const BlockColumns& columns, BlockSparse& matrix) const;

 private:
  using Bodies = std::array<Index, 2>;  ///< numbers of parts of the chart, ascending; −1: none
  struct Run {
    Index begin, end;  ///< terms
    Bodies bodies;
    std::array<Index, 4> blocks;  ///< two of each body; −1: held
    std::array<Index, 10> slots;  ///< of the pairs (a, b), b ≤ a, of blocks; −1 where one is held
  };
  const Run& run_of(Index term) const { return runs_[std::size_t(run_of_term_[std::size_t(term)])]; }
  /// What a run adds to the blocks of its bodies: in order those of the first with itself, of the second with
  /// the first and of the second with itself. Two rows of padding, so that columns are whole packets.
  using Sums = std::array<Eigen::Matrix<double, 8, 6>, 3>;
  void add_term(Index term, const double* hessian, const PointMaps& maps, const ChartSlopes& slopes,
                Sums& sums) const;
  static void flush(const Run& run, const Sums& sums, const FreeCoordinates& free,
                    const BlockColumns& columns, BlockSparse& matrix);

  const Potential* potential_ = nullptr;
  PointKind points_ = PointKind::nodes;
  std::vector<Run> runs_;
  std::vector<Index> run_of_term_;
};

}  // namespace apart
