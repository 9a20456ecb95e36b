#include <apart/solver/chart_slopes.hpp>

namespace apart {

ChartSlopes::ChartSlopes(const Chart& chart) : chart_(chart), first_(1, 0), first_unknown_(1, 0) {
  for (const Chart::Part& part : chart_.parts()) {
    const auto unknowns = std::size_t(part.chart->unknown_count());
    first_.push_back(first_.back() + unknowns * std::size_t(part.chart->node_count()));
    first_unknown_.push_back(first_unknown_.back() + unknowns);
    first_node_.push_back(transposed_.size());
    transposed_.resize(transposed_.size() + std::size_t(part.chart->node_count()), PaddedSlope::Zero());
  }
  slopes_.resize(first_.back());
  is_shift_.resize(first_unknown_.back());
}

void ChartSlopes::update(const Matrix3X& q) {
  for (std::size_t p = 0; p < chart_.parts().size(); ++p) {
    const Chart::Part& part = chart_.parts()[p];
    const BodyColumns at = part.nodes(q);
    Matrix3* slope = slopes_.data() + first_[p];
    for (Index u = 0; u < part.chart->unknown_count(); ++u) {
      bool shift = true;
      for (Index n = 0; n < part.chart->node_count(); ++n, ++slope) {
        *slope = part.chart->slope(at, n, u);
        shift &= *slope == Matrix3::Identity();
        if (part.chart->unknown_count() == 2)
          transposed_[first_node_[p] + std::size_t(n)].middleRows<3>(3 * u) = slope->transpose();
      }
      is_shift_[first_unknown_[p] + std::size_t(u)] = shift;
    }
  }
}

Slope ChartSlopes::of(Index part, Index unknown, std::span<const Influence> influences) const {
  const Chart::Part& body = chart_.parts()[std::size_t(part)];
  Slope result;
  result.is_scalar = is_shift_[first_unknown_[std::size_t(part)] + std::size_t(unknown)] != 0;
  if (result.is_scalar) {
    result.weight = 0;
    for (const Influence& i : influences) result.weight += i.weight;
    return result;
  }
  const Matrix3* slopes = slopes_.data() + first_[std::size_t(part)] + unknown * body.chart->node_count();
  for (const Influence& i : influences) result.matrix += i.weight * slopes[i.node - body.first_node];
  return result;
}

PaddedSlope ChartSlopes::transposed(Index part, std::span<const Influence> influences) const {
  const PaddedSlope* of_nodes = transposed_.data() + first_node_[std::size_t(part)];
  const Index first_node = chart_.parts()[std::size_t(part)].first_node;
  PaddedSlope sum = PaddedSlope::Zero();
  for (const Influence& i : influences) sum += i.weight * of_nodes[i.node - first_node];
  return sum;
}

}  // namespace apart
