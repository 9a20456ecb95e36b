#pragma once
#include <apart/core/types.hpp>

#include <utility>
#include <vector>

namespace apart {

struct Model;

/// Which nodes elements connect, for some consecutive nodes of a model.
struct NodeGraph {
  std::vector<Index> start;       ///< of the neighbours of each of these nodes; one more than nodes
  std::vector<Index> neighbours;  ///< nodes of the model, ascending for each node, without itself
  std::vector<Index> elements;    ///< of each of these nodes: how many have it as their first, and one more
};

/// Of the nodes [first, last) of all bodies, in the initial state: two nodes of an element are neighbours,
/// and so are all nodes of a body that moves as a whole.
NodeGraph node_graph(const Model& model, std::pair<Index, Index> nodes);

}  // namespace apart
