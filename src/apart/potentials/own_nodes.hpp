#pragma once
#include <apart/core/types.hpp>

#include <utility>
#include <vector>

namespace apart {

/// Which nodes are those of this process. An element is made by the process of its first node, and by no
/// other.
class OwnNodes {
 public:
  OwnNodes() = default;  ///< all
  /// `part`: of each node.
  OwnNodes(std::vector<int> part, int own) : part_(std::move(part)), own_(own) {}
  bool contains(Index node) const { return part_.empty() || part_[std::size_t(node)] == own_; }

 private:
  std::vector<int> part_;
  int own_ = 0;
};

}  // namespace apart
