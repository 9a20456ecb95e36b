#pragma once
#include <apart/math/block_sparse.hpp>

#include <vector>

namespace apart {

/// Which nodes a matrix of 3×3 blocks couples: symmetric, without loops.
struct NodeGraph {
  std::vector<Index> start = {0};  ///< of the neighbours of each node
  std::vector<Index> neighbour;
  std::vector<Index> slot;  ///< of the block that couples a node and its neighbour, in the matrix
  Index size() const { return Index(start.size()) - 1; }
};
NodeGraph node_graph(const BlockSparse& a);

/// Orders of elimination that keep the factor sparse: which node comes first, second, ...
std::vector<Index> approximate_minimum_degree(const NodeGraph& graph);
/// Takes longer and finds a better order for large graphs. A SIGTERM that comes meanwhile is passed on to its
/// handler; if that returns, the other order is returned.
std::vector<Index> nested_dissection(const NodeGraph& graph);

}  // namespace apart
