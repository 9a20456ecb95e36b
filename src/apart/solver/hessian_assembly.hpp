#pragma once
#include <apart/bodies/linear_map.hpp>
#include <apart/math/block_sparse.hpp>
#include <apart/solver/free_coordinates.hpp>
#include <apart/solver/term.hpp>

#include <utility>
#include <vector>

namespace apart {

/// Which blocks of the linear system the terms of one potential act on, and where in the matrix.
///
/// A term of nodes has one block for each of its points; a term of vertices one for each node that moves one
/// of them, by the weights of the map, however many there are. Everything is stored in a few long arrays, so
/// that no term allocates.
class TermBlocks {
 public:
  /// For the terms the potential has now.
  void find(const Term& term, const LinearMap& map, const FreeCoordinates& free);
  /// The pairs of different blocks.
  void for_each_key(FunctionRef<void(BlockKey)> visit) const;
  /// Looks up where they are in a matrix; false if its pattern lacks one.
  bool locate(const BlockSparse& matrix);
  /// Adds the contributions of the terms in `local` to the block columns [first, last). Each block is summed
  /// in the order of the terms.
  void add(const LocalHessians& local, const FreeCoordinates& free, Index first, Index last,
           BlockSparse& matrix) const;
  /// Whether no point of a term can move: it adds nothing.
  bool is_held(Index term) const;

 private:
  /// The part of a point in a block: ∂(point)/∂(block) = weight · I.
  struct Share {
    Index point;
    double weight;
  };
  Index count() const { return Index(start_.size()) - 1; }
  void find_direct(const Term& term, const LinearMap& map, const FreeCoordinates& free);
  void find_mixed(const Potential& potential, const LinearMap& map, const FreeCoordinates& free);
  Matrix3 product(const LocalHessians& local, Index term, std::size_t a, std::size_t b) const;
  /// Whether a term acts on the same blocks as the one before it, as contacts of two bodies with few nodes
  /// do.
  bool is_like_last(Index term) const;

  std::vector<std::size_t> start_ = {0};  ///< of each term, in blocks_
  std::vector<Index> blocks_;  ///< distinct in a term. Direct: one for each point, −1 where it is held
  bool direct_ = true;         ///< every point is a node, in every term
  std::vector<std::size_t> first_share_;  ///< of each entry of blocks_, unless direct
  std::vector<Share> shares_;
  std::vector<std::size_t> first_slot_ = {0};  ///< of each term, in slots_
  std::vector<Index> slots_;  ///< of the pairs (a, b), b ≤ a, of a term's blocks; −1 where one is held
};

/// Second derivatives of a list of terms in the free coordinates, as one sparse matrix: the terms' own,
/// pulled back by the chain rule, and summed in the same order for any number of threads.
///
/// The pattern is kept while it covers the contacts. Only the terms of contact and friction change during a
/// solve; places of all others are looked up once.
class HessianAssembly {
 public:
  /// Keeps references.
  HessianAssembly(const LinearMap& map, const std::vector<Term>& terms);
  /// Forgets the pattern. The terms of potentials that do not vary may have changed.
  void restart() { pattern_valid_ = false; }
  /// At nodes q and vertices x, where all potentials were prepared.
  const BlockSparse& assemble(const FreeCoordinates& free, const Matrix3X& q, const Matrix3X& x,
                              Projection projection);
  const BlockSparse& matrix() const { return matrix_; }  ///< as last assembled
  /// Whether the pattern has changed since the last call.
  bool take_pattern_change() { return std::exchange(pattern_changed_, false); }

 private:
  void update_pattern(const FreeCoordinates& free);
  std::vector<BlockKey> keys_of(bool varying) const;

  const LinearMap& map_;
  const std::vector<Term>& terms_;
  std::vector<TermBlocks> blocks_;      ///< of each term
  std::vector<BlockKey> fixed_keys_;    ///< of the terms that do not vary
  std::vector<BlockKey> contact_keys_;  ///< of those that do, now and earlier
  std::vector<BlockKey> keys_;          ///< of matrix_
  BlockSparse matrix_;
  LocalHessians local_;
  bool pattern_valid_ = false, pattern_changed_ = false;
};

}  // namespace apart
