#include <apart/solver/chart_slopes.hpp>

namespace apart {

ChartSlopes::ChartSlopes(const Chart& chart) : chart_(chart), first_(1, 0), first_unknown_(1, 0) {
  for (const Chart::Part& part : chart_.parts()) {
    const auto unknowns = std::size_t(part.chart->unknown_count());
    first_.push_back(first_.back() + unknowns * std::size_t(part.chart->node_count()));
    first_unknown_.push_back(first_unknown_.back() + unknowns);
  }
  slopes_.resize(first_.back());
  is_shift_.resize(first_unknown_.back());
}

void ChartSlopes::update(const Matrix3X& q) {
  for (std::size_t p = 0; p < chart_.parts().size(); ++p) {
    const Chart::Part& part = chart_.parts()[p];
    const Matrix3X at = part.nodes(q);
    Matrix3* slope = slopes_.data() + first_[p];
    for (Index u = 0; u < part.chart->unknown_count(); ++u) {
      bool shift = true;
      for (Index n = 0; n < part.chart->node_count(); ++n, ++slope) {
        *slope = part.chart->slope(at, n, u);
        shift &= *slope == Matrix3::Identity();
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

}  // namespace apart
