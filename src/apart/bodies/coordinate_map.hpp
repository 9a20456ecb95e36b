#pragma once
#include <apart/core/types.hpp>

#include <span>

namespace apart {

/// How much one node moves a vertex: ∂x_v/∂q_node = weight · I.
struct Influence {
  Index node = 0;
  double weight = 1;
};

/// Φ: generalised coordinates q → vertices x [m, world]. Coordinates are nodes in space, q is 3 ×
/// node_count(). Every map satisfies, and tests/bodies checks:
///   positions(q + εp) − positions(q) = ε·push_forward(q, p) + O(ε²)
///   ⟨push_forward(q, p), g⟩ = ⟨p, pull_back(q, g)⟩
///   the columns of push_forward are those given by influences(v)
class CoordinateMap {
 public:
  virtual ~CoordinateMap() = default;
  virtual Index node_count() const = 0;
  virtual Index vertex_count() const = 0;
  virtual Matrix3X positions(const Matrix3X& q) const = 0;
  virtual Matrix3X push_forward(const Matrix3X& q, const Matrix3X& p) const = 0;
  virtual Matrix3X pull_back(const Matrix3X& q, const Matrix3X& g) const = 0;
  /// The nodes vertex v depends on, each once.
  virtual std::span<const Influence> influences(Index v) const = 0;
};

}  // namespace apart
