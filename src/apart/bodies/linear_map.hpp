#pragma once
#include <apart/core/function_ref.hpp>
#include <apart/core/types.hpp>

#include <span>
#include <vector>

namespace apart {

/// How much one node moves a vertex: ∂x_v/∂q_node = weight · I.
struct Influence {
  Index node = 0;
  double weight = 1;
};

/// Φ(q) = W q + x₀: from nodes q (3 × node_count()) to the points x of a body that are seen, with constant
/// sparse weights. Volumes, shells, rods, particles and obstacles pick nodes (one weight of 1 per vertex);
/// affine bodies mix the four corners of their control tetrahedron; a vertex may depend on any number of
/// nodes. Every map satisfies, and tests/bodies checks:
///   positions(q + p) − positions(q) = push_forward(p)
///   ⟨push_forward(p), g⟩ = ⟨p, pull_back(g)⟩
///   the columns of push_forward are those given by influences(v)
class LinearMap {
 public:
  explicit LinearMap(Index node_count = 0) : node_count_(node_count) {}
  /// x_v = q_v.
  static LinearMap identity(Index node_count);
  /// `influences`: the nodes the vertex depends on, each once. `offset`: its x₀ [m].
  void add_vertex(std::span<const Influence> influences, const Vector3& offset = Vector3::Zero());
  /// Appends the chosen vertices of another map, whose nodes start at `first_node` here.
  void append(const LinearMap& other, std::span<const Index> vertices, Index first_node);

  Index node_count() const { return node_count_; }
  Index vertex_count() const { return Index(start_.size()) - 1; }
  Matrix3X positions(const Matrix3X& q) const;  ///< W q + x₀
  /// A column of positions(), from the nodes it depends on.
  Vector3 position(Index v, FunctionRef<Vector3(Index node)> q) const;
  Matrix3X push_forward(const Matrix3X& p) const;  ///< W p
  Matrix3X pull_back(const Matrix3X& g) const;     ///< Wᵀ g
  /// |W| d: how far vertices may be off where nodes are off by d.
  VectorX bound(const VectorX& d) const;
  std::span<const Influence> influences(Index v) const {
    return {entries_.data() + start_[v], std::size_t(start_[v + 1] - start_[v])};
  }

 private:
  Index node_count_ = 0;
  std::vector<Index> start_ = {0};  ///< influences of vertex v: entries_[start_[v] … start_[v+1])
  std::vector<Influence> entries_;
  std::vector<Vector3> offset_;  ///< x₀ of each vertex [m]; empty: all are zero
  /// Consecutive vertices that depend on the same four consecutive nodes, as those of an affine or rigid body
  /// do, or else on any: sums over the former need no look at indices.
  struct Run {
    Index begin = 0, end = 0;  ///< vertices
    Index first_node = -1;     ///< of the four; −1: any
  };
  std::vector<Run> runs_;
};

}  // namespace apart
