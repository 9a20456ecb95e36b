#include <apart/solver/ordering.hpp>

#include <apart/core/error.hpp>
#include <apart/core/memory.hpp>

#include <amd.h>

#include <cstdint>
#include <numeric>

// METIS of Debian has indices of 32 bits; its header, in a package of its own, says no more than this. This
// entry, made for ParMETIS, finds the same orders as METIS_NodeND. The latter replaces the handler of SIGTERM
// by one that jumps out of whatever METIS does: out of rand(), which then never gives its lock back.
extern "C" int METIS_NodeNDP(std::int32_t vertex_count, std::int32_t* start, std::int32_t* neighbours,
                             std::int32_t* weights, std::int32_t processes, std::int32_t* options,
                             std::int32_t* node_at_place, std::int32_t* place_of_node, std::int32_t* sizes);

namespace apart {

namespace {

constexpr int metis_ok = 1;

[[noreturn]] void refuse_memory() {
  throw MemoryError(
      "linear solver: the order of elimination needs more memory than is available; use a coarser mesh");
}

}  // namespace

NodeGraph node_graph(const BlockSparse& a) {
  const auto start = a.column_start();
  const auto rows = a.block_rows();
  const Index n = a.block_count();
  NodeGraph graph;
  graph.start.assign(std::size_t(n) + 1, 0);
  for (Index j = 0; j < n; ++j)
    for (Index k = start[std::size_t(j)]; k < start[std::size_t(j) + 1]; ++k)
      if (const Index i = rows[std::size_t(k)]; i != j) {
        ++graph.start[std::size_t(i) + 1];
        ++graph.start[std::size_t(j) + 1];
      }
  for (std::size_t i = 1; i < graph.start.size(); ++i) graph.start[i] += graph.start[i - 1];
  graph.neighbour.resize(std::size_t(graph.start.back()));
  graph.slot.resize(graph.neighbour.size());
  std::vector<Index> next(graph.start.begin(), graph.start.end() - 1);
  for (Index j = 0; j < n; ++j)
    for (Index k = start[std::size_t(j)]; k < start[std::size_t(j) + 1]; ++k) {
      const Index i = rows[std::size_t(k)];
      if (i == j) continue;
      for (const auto& [from, to] : {std::pair{i, j}, std::pair{j, i}}) {
        const auto at = std::size_t(next[std::size_t(from)]++);
        graph.neighbour[at] = to;
        graph.slot[at] = k;
      }
    }
  return graph;
}

std::vector<Index> approximate_minimum_degree(const NodeGraph& graph) {
  std::vector<Index> order(std::size_t(graph.size()));
  std::iota(order.begin(), order.end(), 0);
  if (graph.neighbour.empty()) return order;  // AMD and METIS want an edge
  const int status =
      amd_order(graph.size(), graph.start.data(), graph.neighbour.data(), order.data(), nullptr, nullptr);
  if (status == AMD_OUT_OF_MEMORY) refuse_memory();
  ensure(status == AMD_OK, "approximate_minimum_degree: AMD failed");
  return order;
}

std::vector<Index> nested_dissection(const NodeGraph& graph) {
  static_assert(sizeof(Index) == sizeof(std::int32_t));
  std::vector<Index> order(std::size_t(graph.size())), place(order.size());
  if (graph.neighbour.empty()) return approximate_minimum_degree(graph);
  // METIS ends the program where it gets no memory. Twice what it took of grids of 64,000 to 216,000 nodes.
  ensure_memory(double(sizeof(Index)) * (40.0 * double(order.size()) + 6.0 * double(graph.neighbour.size())),
                "the order of elimination", "use a coarser mesh");
  Index sizes[2] = {0, 0};
  const int status = METIS_NodeNDP(graph.size(), const_cast<Index*>(graph.start.data()),
                                   const_cast<Index*>(graph.neighbour.data()), nullptr, 1, nullptr,
                                   order.data(), place.data(), sizes);
  ensure(status == metis_ok, "nested_dissection: METIS failed");
  return order;
}

}  // namespace apart
