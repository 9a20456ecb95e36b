#pragma once
#include <apart/core/types.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace apart {

/// The numbers 0 … count − 1 in sets that grow together. A set is named by its smallest member, so that names
/// do not depend on the order in which sets were joined.
class DisjointSets {
 public:
  explicit DisjointSets(Index count) : parent_(std::size_t(count)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  /// The smallest member of the set that holds a.
  Index find(Index a) {
    while (parent(a) != a) a = parent(a) = parent(parent(a));
    return a;
  }
  void join(Index a, Index b) {
    a = find(a);
    b = find(b);
    parent(std::max(a, b)) = std::min(a, b);
  }
  /// find() of each number.
  std::vector<Index> names() && {
    for (Index a = 0; a < Index(parent_.size()); ++a) parent(a) = find(a);
    return std::move(parent_);
  }

 private:
  Index& parent(Index a) { return parent_[std::size_t(a)]; }
  std::vector<Index> parent_;  ///< never larger than the number itself
};

}  // namespace apart
