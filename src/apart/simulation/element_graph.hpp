#pragma once
#include <apart/core/types.hpp>

#include <utility>
#include <vector>

namespace apart {

struct Model;

/// Which nodes the elements of a model connect, for some consecutive nodes.
struct ElementGraph {
  std::vector<Index> start;       ///< of the neighbours of each of these nodes; one more than nodes
  std::vector<Index> neighbours;  ///< nodes of the model, ascending for each node, without itself
  std::vector<Index> work;  ///< that each of these nodes makes: of the elements that have it as their first
};

/// Of the nodes [first, last) of all bodies, in the initial state: two nodes of an element are neighbours,
/// and so are all nodes of a body that moves as a whole. `present`: one entry per body; those that are absent
/// make no work.
ElementGraph element_graph(const Model& model, const std::vector<char>& present,
                           std::pair<Index, Index> nodes);

}  // namespace apart
