#pragma once
#include <apart/bodies/coordinate_map.hpp>

#include <vector>

namespace apart {

/// Φ(q) = W q with constant sparse weights that sum to one per vertex. Volumes and obstacles pick nodes (one
/// weight of 1 per vertex); affine bodies mix the four corners of their control tetrahedron.
class LinearMap final : public CoordinateMap {
 public:
  explicit LinearMap(Index node_count = 0) : node_count_(node_count) {}
  /// x_v = q_v.
  static LinearMap identity(Index node_count);
  void add_vertex(std::span<const Influence> influences);
  /// Appends the chosen vertices of another map, whose nodes start at `first_node` here.
  void append(const LinearMap& other, std::span<const Index> vertices, Index first_node);

  Index node_count() const override { return node_count_; }
  Index vertex_count() const override { return Index(start_.size()) - 1; }
  Matrix3X positions(const Matrix3X& q) const override;
  Matrix3X push_forward(const Matrix3X& q, const Matrix3X& p) const override;
  Matrix3X pull_back(const Matrix3X& q, const Matrix3X& g) const override;
  std::span<const Influence> influences(Index v) const override {
    return {entries_.data() + start_[v], std::size_t(start_[v + 1] - start_[v])};
  }

 private:
  Index node_count_ = 0;
  std::vector<Index> start_ = {0};  ///< influences of vertex v: entries_[start_[v] … start_[v+1])
  std::vector<Influence> entries_;
};

}  // namespace apart
