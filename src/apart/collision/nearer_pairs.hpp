#pragma once
#include <apart/collision/stencil.hpp>

#include <cmath>
#include <limits>

namespace apart {

/// visit(c) for the pairs c in [begin, end) whose distance_at_sight() is at most `limit` [m], in order. Most
/// pairs are not: they are passed over eight at a time.
template <class Visit>
void for_each_nearer(const NearPairs& near, double limit, Index begin, Index end, const Visit& visit) {
  using Packet = Eigen::Map<const Eigen::Array<float, 8, 1>>;
  const bool in_packets = near.is_known();
  // Numbers above, so that no pair is lost to rounding.
  const auto above = [](double value) {
    return std::nextafter(float(value), std::numeric_limits<float>::infinity());
  };
  const float here = above(limit), earlier = above(limit + 2 * near.most_moved);
  const auto all_farther = [&](Index c) {
    const Packet now(near.here.data() + c), then(near.distance.data() + c);
    return (now - here).max(then - earlier).minCoeff() > 0;
  };
  for (Index c = begin; c < end;) {
    const Index next = std::min(c + 8, end);
    if (in_packets && next - c == 8 && all_farther(c))
      c = next;
    else
      for (; c < next; ++c)
        if (near.distance_at_sight(c) <= limit) visit(c);
  }
}

}  // namespace apart
