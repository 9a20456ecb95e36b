#pragma once
#include <apart/core/team.hpp>
#include <apart/math/block_sparse.hpp>
#include <apart/solver/body_pair_terms.hpp>
#include <apart/solver/chart_curvature.hpp>
#include <apart/solver/chart_parts.hpp>
#include <apart/solver/chart_slopes.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace apart {

/// Which blocks of the linear system the terms of one potential act on, and where in the matrix.
///
/// A term of nodes has one block for each of its points; a term of vertices one for each node that moves one
/// of them, by the weights of the map, however many there are. Nodes of a body with a chart move with the
/// unknowns of that instead: a contact of two rigid bodies has four blocks, not eight; if all terms are like
/// that, less is stored (BodyPairTerms). Everything is stored in a few long arrays, so that no term
/// allocates.
class TermBlocks {
 public:
  /// For the terms the potential has now. Of a potential that every process has as a whole, those outside of
  /// this process's share of its terms have no blocks, as if they were held.
  void find(const Term& term, const PointMaps& maps, const Team& team);
  /// visit(column, row) for the pairs of different blocks of all terms.
  template <class Visit>
  void for_each_pair(const Visit& visit) const;
  /// Looks up where they are in a matrix; false if its pattern lacks one.
  bool locate(const BlockSparse& matrix);
  /// The same, if their places in an earlier matrix are known: `moved` has the new place of each of its
  /// blocks.
  void move(std::span<const Index> moved);
  /// Whether the terms are those of `other`, with the same blocks.
  bool equals(const TermBlocks& other) const;
  /// Adds the contributions of the terms in `local` to some columns. Each block is summed in the order of the
  /// terms.
  void add(const LocalHessians& local, const PointMaps& maps, const ChartSlopes& slopes,
           const BlockColumns& columns, BlockSparse& matrix) const;
  /// Whether a term adds to some of the columns; not if no point of it can move.
  bool touches(Index term, const BlockColumns& columns) const;
  /// Not if this term and the one before it are summed before they are added: add() needs both at once.
  bool begins_sum(Index term) const { return !paired_ || pair_terms_.begins_run(term); }

 private:
  /// The part of a point in a block: ∂(point)/∂(block) = weight · I, or as the chart of its body says.
  struct Share {
    Index point;                    ///< of the term
    double weight;                  ///< unless a chart tells
    Index part = -1, unknown = -1;  ///< of the chart
    Index id = -1;                  ///< of the point
  };
  Index count() const { return Index(start_.size()) - 1; }
  bool is_direct(const Term& term, const PointMaps& maps) const;
  void find_direct(const Term& term, const PointMaps& maps);
  void find_mixed(const Term& term, const PointMaps& maps);
  bool is_own(Index term) const { return own_.first <= term && term < own_.second; }
  template <class Visit>
  static void for_each_share(const Term& term, const PointMaps& maps, Index point, const Visit& visit);
  /// ∂(point)/∂(block) for each share of a term.
  void find_slopes(Index term, const PointMaps& maps, const ChartSlopes& slopes,
                   std::vector<Slope>& of_term) const;
  void fill_panel(const LocalHessians& local, Index term, std::size_t b, std::span<const Slope> slopes,
                  AlignedBuffer& panel) const;
  Matrix3 from_panel(Index term, std::size_t a, std::span<const Slope> slopes,
                     const AlignedBuffer& panel) const;
  /// Whether a term acts on the same blocks as the one before it, as contacts of two bodies with few nodes
  /// do.
  bool is_like_last(Index term) const;

  struct Entry {
    std::size_t rank;  ///< of its block, in the order of their first appearance in the term
    Share share;
  };
  /// The blocks of some terms, while they are found; kept for its memory.
  struct Piece {
    std::vector<std::size_t> sizes;  ///< blocks of each term
    std::vector<Index> blocks;
    std::vector<std::size_t> share_counts;  ///< of each block
    std::vector<Share> shares;
    std::vector<Entry> entries;     ///< of a term
    std::vector<std::size_t> next;  ///< of each block of a term: where its next share goes
  };
  bool paired_ = false;  ///< all terms are those of pair_terms_, and the rest of this is not used
  BodyPairTerms pair_terms_;
  std::vector<Piece> pieces_;
  std::vector<std::size_t> start_ = {0};  ///< of each term, in blocks_
  std::pair<Index, Index> own_;           ///< terms [first, last) that are this process's
  std::vector<Index> blocks_;  ///< distinct in a term. Direct: one for each point, −1 where it is held
  bool direct_ = true;         ///< every point is a node without a chart, in every term
  PointKind points_ = PointKind::nodes;
  std::vector<std::size_t> first_share_;  ///< of each entry of blocks_, unless direct
  std::vector<Share> shares_;
  std::vector<std::size_t> first_slot_ = {0};  ///< of each term, in slots_
  std::vector<Index> slots_;  ///< of the pairs (a, b), b ≤ a, of a term's blocks; −1 where one is held
};

template <class Visit>
void TermBlocks::for_each_pair(const Visit& visit) const {
  if (paired_) return pair_terms_.for_each_pair(visit);
  for (Index t = 0; t < count(); ++t) {
    const std::size_t begin = start_[std::size_t(t)], end = start_[std::size_t(t) + 1];
    if (t > 0 && is_like_last(t)) continue;
    for (std::size_t a = begin; a < end; ++a)
      for (std::size_t b = begin; b < a; ++b)
        if (blocks_[a] >= 0 && blocks_[b] >= 0)
          visit(std::min(blocks_[a], blocks_[b]), std::max(blocks_[a], blocks_[b]));
  }
}

/// Second derivatives of a list of terms in the free unknowns, as one sparse matrix: the terms' own, pulled
/// back by the chain rule, and summed in the same order for any number of threads; then the curvature of
/// charts.
///
/// In a team every process has the summand of its own local terms, with all rows. What is not a local term is
/// in that of the leader.
///
/// The pattern is kept while it covers the contacts. Only the terms of contact and friction change during a
/// solve; places of all others are looked up once.
class HessianAssembly {
 public:
  /// Keeps references.
  HessianAssembly(const LinearMap& map, const Chart& chart, const std::vector<Term>& terms,
                  const Team& team = Team::alone());
  /// Forgets the pattern. The terms of potentials that do not vary may have changed.
  void restart() { pattern_valid_ = assembled_ = false; }
  /// Where all potentials were prepared.
  struct Place {
    const Matrix3X &q, &x;     ///< nodes and vertices
    const Matrix3X& gradient;  ///< in the nodes; used if there are charts
  };
  const BlockSparse& assemble(const FreeCoordinates& free, const Place& place, Projection projection);
  /// As last assembled; null if that was before the last restart.
  const BlockSparse* matrix() const { return assembled_ ? &matrix_ : nullptr; }
  /// Whether the pattern has changed since the last call.
  bool take_pattern_change() { return std::exchange(pattern_changed_, false); }

 private:
  void update_pattern(const PointMaps& maps);
  bool find_blocks(const PointMaps& maps);
  void set_matrix(const PointMaps& maps, bool places_known);
  std::vector<BlockKey> keys_of(bool varying, Index block_count) const;
  void share_columns(const FreeCoordinates& free, const Matrix3X& q);
  void add_terms(std::size_t term, const PointMaps& maps, const Matrix3X& points, Projection projection);
  void add_share(std::size_t term, const PointMaps& maps, const Matrix3X& points, Projection projection,
                 const BlockColumns& columns, LocalHessians& local);

  const LinearMap& map_;
  const Chart& chart_;
  const std::vector<Term>& terms_;
  const Team& team_;
  ChartParts parts_;
  std::vector<TermBlocks> blocks_;      ///< of each term
  std::vector<BlockKey> fixed_keys_;    ///< of the terms that do not vary
  std::vector<BlockKey> contact_keys_;  ///< of those that do, now and earlier
  std::vector<BlockKey> keys_;          ///< of matrix_
  BlockSparse matrix_;
  FreeCoordinates free_;         ///< those the blocks of terms that do not vary were found for
  std::vector<Index> share_of_;  ///< of each column: which share of the work adds to it
  Index shares_ = 0;
  std::vector<LocalHessians> local_;  ///< of each share
  ChartSlopes slopes_;
  ChartCurvature curvature_;
  bool pattern_valid_ = false, pattern_changed_ = false, assembled_ = false;
};

}  // namespace apart
