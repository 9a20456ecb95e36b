#pragma once
#include <apart/bodies/chart.hpp>
#include <apart/math/block_sparse.hpp>
#include <apart/potentials/potential.hpp>
#include <apart/solver/free_coordinates.hpp>

#include <utility>
#include <vector>

namespace apart {

/// Second derivatives in the unknowns from those in the nodes: Jᵀ H J + Σ gₖ · ∂²qₖ/∂y². Terms are first
/// summed over nodes. The curvature of a chart can make that sum indefinite even if every term is projected,
/// so with Projection::psd the block of each body with a chart is projected as a whole, once.
///
/// The places of products in the matrix are found once for each pattern of H.
class ReducedHessian {
 public:
  /// Keeps a reference.
  explicit ReducedHessian(const Chart& chart) : chart_(chart) {}
  /// Which unknowns may move. Also forgets the pattern.
  void set_free(const FreeCoordinates& unknowns);
  /// The nodes that terms are assembled on: bodies with a chart that can move have all theirs.
  const FreeCoordinates& nodes() const { return nodes_; }

  /// Derivatives in the nodes.
  struct OfNodes {
    const Matrix3X& q;           ///< where they are taken
    const Matrix3X& gradient;    ///< in all nodes
    const BlockSparse& hessian;  ///< of the blocks of nodes()
    bool new_pattern;            ///< since the last call
  };
  const BlockSparse& reduce(const OfNodes& of_nodes, Projection projection);
  const BlockSparse& matrix() const { return matrix_; }
  bool take_pattern_change() { return std::exchange(pattern_changed_, false); }

 private:
  /// One unknown that a node depends on.
  struct Dependence {
    Index block;          ///< of the unknown in the system
    Index part;           ///< of the chart; −1: the node is the unknown
    Index node, unknown;  ///< of the part
  };
  /// Where a product is added.
  struct Place {
    Index slot, column;
    bool transposed;
  };
  /// The part of the matrix that is one body's own, in the order of its unknowns (u, v), v ≤ u.
  struct OwnBlock {
    Index u, v, slot, column;
  };
  struct OwnBlocks {
    Index part;
    std::vector<OwnBlock> blocks;
  };
  template <class Visit>
  void for_each_product(const BlockSparse& h, const Visit& visit) const;
  void find_pattern(const BlockSparse& h);
  void add_own(const OfNodes& of_nodes, const OwnBlocks& own, Projection projection);
  void hold();

  const Chart& chart_;
  FreeCoordinates unknowns_, nodes_;
  std::vector<std::size_t> first_dependence_;  ///< of each block of nodes_, and their end
  std::vector<Dependence> dependences_;
  std::vector<Matrix3> slopes_;  ///< ∂(node)/∂(unknown) of each dependence
  std::vector<Place> places_;    ///< in the order of for_each_product
  std::vector<OwnBlocks> own_;
  std::vector<BlockKey> keys_;
  BlockSparse matrix_;
  bool pattern_valid_ = false, pattern_changed_ = false;
};

}  // namespace apart
