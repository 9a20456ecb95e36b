#include <apart/solver/compact_parts.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace apart {

CompactParts::CompactParts(const Matrix3X& positions, Index largest) {
  const Index n = Index(positions.cols());
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  of.resize(order.size());
  std::vector<std::pair<Index, Index>> open = {{0, n}};
  while (!open.empty()) {
    const auto [begin, end] = open.back();
    open.pop_back();
    const std::span<Index> some(order.data() + begin, std::size_t(end - begin));
    if (end - begin <= largest) {
      for (const Index b : some) of[std::size_t(b)] = count;
      ++count;
      continue;
    }
    Vector3 lower = Vector3::Constant(std::numeric_limits<double>::infinity()), upper = -lower;
    for (const Index b : some) {
      lower = lower.cwiseMin(positions.col(b));
      upper = upper.cwiseMax(positions.col(b));
    }
    int axis = 0;
    (upper - lower).maxCoeff(&axis);
    const Index middle = begin + (end - begin) / 2;
    std::ranges::nth_element(some, some.begin() + (middle - begin), {},
                             [&](Index b) { return std::pair(positions(axis, b), b); });
    open.emplace_back(middle, end);
    open.emplace_back(begin, middle);
  }
}

}  // namespace apart
