#include <apart/simulation/element_graph.hpp>

#include <apart/simulation/model.hpp>

#include <algorithm>

namespace apart {

namespace {

/// visit(nodes) for the nodes of each element of a body, its own numbers, the first node first.
template <class Visit>
void for_each_element(const Body& body, const Visit& visit) {
  const auto columns = [&](const auto& cells) {
    for (Eigen::Index c = 0; c < cells.cols(); ++c) visit(cells.col(c));
  };
  if (body.elastic && body.elastic->lagrange)
    columns(body.elastic->lagrange->nodes);
  else if (body.elastic)
    columns(body.elastic->nodes);
  if (body.planar) columns(body.planar->nodes);
  if (body.shell) {
    columns(body.shell->nodes);
    columns(body.shell->hinges);
  }
  if (body.rods) columns(body.rods->segments);
  if (body.chart || body.kind == BodyKind::affine)
    visit(Eigen::VectorXi(Eigen::VectorXi::LinSpaced(body.node_count(), 0, body.node_count() - 1)));
}

}  // namespace

ElementGraph element_graph(const Model& model, const std::vector<char>& present,
                           std::pair<Index, Index> nodes) {
  constexpr Index of_element = 16;  // a node without elements also makes a little
  const auto [begin, end] = nodes;
  const auto is_own = [&, first = begin, last = end](Index n) { return first <= n && n < last; };
  ElementGraph graph;
  graph.work.assign(std::size_t(end - begin), 1);
  std::vector<std::vector<Index>> neighbours(std::size_t(end - begin));
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Index first = model.first_node[b];
    if (first >= end || first + model.bodies[b].node_count() <= begin || !present[b]) continue;
    for (Index n = std::max(first, begin); n < std::min(first + model.bodies[b].node_count(), end); ++n)
      graph.work[std::size_t(n - begin)] = of_element;
    for_each_element(model.bodies[b], [&, from = begin](const auto& element) {
      if (is_own(first + element[0])) graph.work[std::size_t(first + element[0] - from)] += of_element;
      for (const int node : element) {
        if (!is_own(first + node)) continue;
        std::vector<Index>& near = neighbours[std::size_t(first + node - from)];
        for (const int other : element)
          if (other != node) near.push_back(first + other);
      }
    });
  }
  graph.start = {0};
  for (std::vector<Index>& near : neighbours) {
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    graph.neighbours.insert(graph.neighbours.end(), near.begin(), near.end());
    graph.start.push_back(Index(graph.neighbours.size()));
    near = {};
  }
  return graph;
}

}  // namespace apart
