#pragma once
#include <apart/bodies/chart.hpp>
#include <apart/bodies/linear_map.hpp>
#include <apart/solver/free_coordinates.hpp>
#include <apart/solver/term.hpp>

#include <span>
#include <vector>

namespace apart {

/// Which body with a chart of its own each node and each vertex belongs to.
class ChartParts {
 public:
  ChartParts(const LinearMap& map, const Chart& chart);
  /// Number in Chart::parts(); −1: none.
  Index of(PointKind kind, Index point) const {
    if (of_node_.empty()) return -1;
    return (kind == PointKind::nodes ? of_node_ : of_vertex_)[std::size_t(point)];
  }

 private:
  std::vector<Index> of_node_, of_vertex_;  ///< empty: the chart is the identity
};

/// How points depend on the unknowns that may move.
struct PointMaps {
  const LinearMap& map;
  const Chart& chart;
  const ChartParts& parts;
  const FreeCoordinates& free;
};

/// Some columns of the linear system: those of a share of the work, or all.
struct BlockColumns {
  std::span<const Index> share_of;  ///< each column
  Index share = -1;                 ///< negative: all
  bool contain(Index column) const { return share < 0 || share_of[std::size_t(column)] == share; }
};

/// Zeroes rows and columns of coordinates that are held.
void mask_held(const FreeCoordinates& free, Index row, Index column, Matrix3& block);

}  // namespace apart
