#pragma once
#include <apart/collision/collision_surface.hpp>
#include <apart/geometry/aabb.hpp>

#include <array>
#include <vector>

namespace apart {

/// Measures the smallest gap between two groups of bodies repeatedly as they move, with a tree of boxes for
/// each group, refitted at each call, and a search that skips what is farther than the best so far; it begins
/// with the pair that was closest the last time. The answer depends on x alone. Keeps a reference to the
/// surface.
class GapMeter {
 public:
  GapMeter(const CollisionSurface& surface, const std::vector<int>& bodies, const std::vector<int>& others);

  /// Smallest distance minus thickness [m], whether or not the two may be in contact; +infinity if a group
  /// has no points.
  double measure(const Matrix3X& x);

 private:
  /// A triangle, free segment or isolated vertex.
  struct Element {
    std::array<Index, 3> vertices;
    int size;
  };
  struct Node {
    Aabb box;
    Index begin, end;  ///< elements
    Index right = -1;  ///< the left child is the next node; −1: a leaf
  };
  struct Tree {
    std::vector<Element> elements;
    std::vector<Node> nodes;  ///< parents before children
    void build(const Matrix3X& x, Index begin, Index end);
    void refit(const Matrix3X& x);
  };
  Tree collect(const std::vector<char>& chosen) const;
  double gap(const Element& a, const Element& b, const Matrix3X& x) const;
  void search(Index a, Index b, const Matrix3X& x);

  const CollisionSurface& surface_;
  std::vector<char> first_, second_;  ///< per body
  Tree trees_[2];
  double largest_thickness_ = 0;
  bool built_ = false;
  Element closest_[2] = {};  ///< of the last call; of size 0 before the first
  double best_ = 0;
};

}  // namespace apart
