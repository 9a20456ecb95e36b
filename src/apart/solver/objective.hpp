#pragma once
#include <apart/bodies/coordinate_map.hpp>
#include <apart/math/block_sparse.hpp>
#include <apart/potentials/potential.hpp>

#include <utility>
#include <vector>

namespace apart {

/// Which coordinates Newton may move.
class FreeCoordinates {
 public:
  FreeCoordinates() = default;
  /// free(axis, node): true where the coordinate may move.
  explicit FreeCoordinates(Eigen::Array<bool, 3, Eigen::Dynamic> free);
  bool operator()(int axis, Index node) const { return free_(axis, node); }
  /// Block of a node in the linear system; −1 for a node that cannot move at all.
  Index block(Index node) const { return block_[node]; }
  Index block_count() const { return Index(node_.size()); }
  Index node(Index block) const { return node_[block]; }
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

/// E(q) = Σ node potentials(q) + Σ vertex potentials(Φ(q)): the one function a time step minimises.
/// [docs/architecture.md] Contact and friction know only x = Φ(q); here they are pulled back by the chain
/// rule.
class Objective {
 public:
  /// Keeps references to all of them.
  Objective(const CoordinateMap& map, std::vector<Potential*> node_potentials,
            std::vector<Potential*> vertex_potentials);

  void set_free(FreeCoordinates free);
  const FreeCoordinates& free() const { return free_; }

  /// Everything below speaks of the q last given here.
  void prepare(const Matrix3X& q);
  double value() const;
  /// The value of each potential, by name.
  std::vector<std::pair<std::string_view, double>> values() const;
  /// Σ |value| of the potentials: the scale of rounding errors in value().
  double magnitude() const;
  Matrix3X gradient() const;
  /// Σ |∂(potential)/∂qᵢ| over the potentials, for each node: the forces that act on it, whether or not they
  /// balance, times the step's scale [kg m].
  VectorX acting() const;
  /// How far off rounding may put the gradient at each node, by the stiffness hessian() last found there
  /// [kg m]: no solver can balance forces better.
  VectorX gradient_rounding();
  /// Second derivatives of the free coordinates, each term projected or as it is. The pattern is kept while
  /// it covers the contacts; take_pattern_change() tells whether there is a new one since it was last asked.
  const BlockSparse& hessian(Projection projection = Projection::psd);
  bool take_pattern_change() { return std::exchange(pattern_changed_, false); }
  const Matrix3X& coordinates() const { return q_; }  ///< q
  const Matrix3X& vertices() const { return x_; }     ///< Φ(q)

 private:
  void update_pattern();
  void for_each_key(const Potential& potential, bool on_vertices, FunctionRef<void(BlockKey)> visit) const;
  /// Zeroes the rows and columns of coordinates that are held; hessian() puts a one on their diagonal.
  void mask(Matrix3& block, Index row, Index column) const;
  void assemble(const Potential& potential, bool on_vertices, Projection projection);

  const CoordinateMap& map_;
  std::vector<Potential*> node_potentials_, vertex_potentials_;
  FreeCoordinates free_;
  Matrix3X q_, x_;
  std::vector<BlockKey> node_keys_;     ///< of the node potentials: constant while the free coordinates are
  std::vector<BlockKey> contact_keys_;  ///< of the vertex potentials, now and earlier
  std::vector<BlockKey> keys_;          ///< of hessian_
  BlockSparse hessian_;
  bool pattern_valid_ = false, pattern_changed_ = false;
};

}  // namespace apart
