#include <apart/solver/chart_parts.hpp>

#include <algorithm>

namespace apart {

ChartParts::ChartParts(const LinearMap& map, const Chart& chart) {
  if (chart.is_identity()) return;
  of_node_.assign(std::size_t(chart.node_count()), -1);
  for (std::size_t p = 0; p < chart.parts().size(); ++p)
    std::fill_n(of_node_.begin() + chart.parts()[p].first_node, chart.parts()[p].chart->node_count(),
                Index(p));
  of_vertex_.resize(std::size_t(map.vertex_count()));
  for (Index v = 0; v < map.vertex_count(); ++v)
    of_vertex_[std::size_t(v)] = of_node_[std::size_t(map.influences(v)[0].node)];
}

void mask_held(const FreeCoordinates& free, Index row, Index column, Matrix3& block) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!free(axis, free.node(row))) block.row(axis).setZero();
    if (!free(axis, free.node(column))) block.col(axis).setZero();
  }
}

}  // namespace apart
