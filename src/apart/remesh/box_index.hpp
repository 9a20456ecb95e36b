#pragma once
#include <apart/geometry/aabb.hpp>

#include <vector>

namespace apart {

/// Finds which of many boxes meet a given one, in logarithmic time for those that do not. Immutable.
class BoxIndex {
 public:
  explicit BoxIndex(std::vector<Aabb> boxes);
  /// The numbers of the boxes that meet this one, ascending.
  std::vector<Index> meeting(const Aabb& box) const;

 private:
  struct Node {
    Aabb box;
    Index begin, end;  ///< places in order_
    Index right = -1;  ///< the left child is the next node; −1: a leaf
  };
  void build(Index begin, Index end);

  std::vector<Aabb> boxes_;
  std::vector<Index> order_;
  std::vector<Node> nodes_;  ///< parents before children
};

}  // namespace apart
