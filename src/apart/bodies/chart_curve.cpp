#include <apart/bodies/chart_curve.hpp>

namespace apart {

std::array<Vector3, 4> ChartCurve::at(double t, std::span<const Index> points) const {
  const double share = begin_ + t * (end_ - begin_);
  std::array<Vector3, 4> result;
  const Chart::Part* last = nullptr;  // points of one body come one after the other
  BodyColumns nodes;
  const auto node_at = [&](Index n) -> Vector3 {
    const Chart::Part* part = step_.chart.part_of(n);
    if (!part) return step_.q.col(n) + share * step_.y.col(step_.chart.unknown_of(n));
    if (part != last) nodes = part->chart->retract(part->nodes(step_.q), share * part->unknowns(step_.y));
    last = part;
    return nodes.col(n - part->first_node);
  };
  for (std::size_t i = 0; i < points.size(); ++i) result[i] = step_.map.position(points[i], node_at);
  return result;
}

}  // namespace apart
