#include <apart/collision/box_tree.hpp>
#include <apart/core/parallel.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace apart {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Spreads the lowest 21 bits so that two zeros follow each.
std::uint64_t spread(std::uint64_t v) {
  v = (v | v << 32) & 0x001f00000000ffff;
  v = (v | v << 16) & 0x001f0000ff0000ff;
  v = (v | v << 8) & 0x100f00f00f00f00f;
  v = (v | v << 4) & 0x10c30c30c30c30c3;
  return (v | v << 2) & 0x1249249249249249;
}

double half_perimeter(const FloatBox& box) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) sum += double(box.upper[k]) - double(box.lower[k]);
  return sum;
}

}  // namespace

void BoxTree::sort_along_curve(std::span<const FloatBox> boxes) {
  const Index count = Index(boxes.size());
  double lowest[3], longest = 0;
  for (int k = 0; k < 3; ++k) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const FloatBox& box : boxes) {
      const double twice_centre = double(box.lower[k]) + double(box.upper[k]);
      low = std::min(low, twice_centre);
      high = std::max(high, twice_centre);
    }
    lowest[k] = low;
    longest = std::max(longest, high - low);
  }
  // One scale for all axes: cells of the curve are cubes.
  const double scale = longest > 0 ? double((1 << 21) - 1) / longest : 0;
  struct Place {
    std::uint64_t code;
    Index box;
    bool operator<(const Place& o) const { return code != o.code ? code < o.code : box < o.box; }
  };
  std::vector<Place> places(count);
  parallel_for(count, [&](Index i) {
    std::uint64_t code = 0;
    for (int k = 0; k < 3; ++k) {
      const double at = (double(boxes[i].lower[k]) + double(boxes[i].upper[k]) - lowest[k]) * scale;
      // Written so that a NaN (boxes that overflow single precision) counts as 0.
      const double inside = at > 0 ? std::min(at, double((1 << 21) - 1)) : 0;
      code |= spread(std::uint64_t(inside)) << k;
    }
    places[i] = {code, i};
  });
  std::sort(places.begin(), places.end());
  order_.resize(count);
  for (Index i = 0; i < count; ++i) order_[i] = places[i].box;
}

void BoxTree::fit(std::span<const FloatBox> boxes, Levels& levels) const {
  const Index count = Index(boxes.size());
  std::size_t depth = 0;
  for (Index below = count; depth == 0 || below > 1; ++depth) {
    const Index packets = std::max<Index>(1, (below + width - 1) / width);
    if (levels.size() <= depth) levels.emplace_back();
    levels[depth].resize(packets);
    parallel_for(packets, [&, depth](Index p) {
      Packet& packet = levels[depth][p];
      for (int lane = 0; lane < width; ++lane) {
        const Index i = p * width + lane;
        for (int k = 0; k < 3; ++k) {
          packet.lower[k][lane] = infinity;  // empty: touches nothing
          packet.upper[k][lane] = -infinity;
          if (i >= below) continue;
          if (depth == 0) {
            packet.lower[k][lane] = boxes[order_[i]].lower[k];
            packet.upper[k][lane] = boxes[order_[i]].upper[k];
          } else {
            const Packet& inner = levels[depth - 1][i];
            packet.lower[k][lane] = *std::min_element(inner.lower[k], inner.lower[k] + width);
            packet.upper[k][lane] = *std::max_element(inner.upper[k], inner.upper[k] + width);
          }
        }
      }
    });
    below = packets;
  }
  levels.resize(depth);
}

double BoxTree::looseness(std::span<const FloatBox> boxes) const {
  if (start_.size() < 2) return 0;  // one packet: no order can be better
  const double inner = ordered_sum(Index(boxes.size()), [&](Index i) { return half_perimeter(boxes[i]); });
  const double outer = ordered_sum(Index(start_[0].size()), [&](Index p) {
    const Packet& packet = start_[1][p / width];
    double sum = 0;
    for (int k = 0; k < 3; ++k)
      sum += double(packet.upper[k][p % width]) - double(packet.lower[k][p % width]);
    return sum;
  });
  return inner > 0 ? outer / inner : 0;
}

void BoxTree::update(std::span<const FloatBox> start, std::span<const FloatBox> end) {
  const bool fresh = order_.size() != start.size();
  if (fresh) sort_along_curve(start);
  fit(start, start_);
  const double now = looseness(start);
  if (fresh) {
    built_looseness_ = now;
  } else if (!(now <= 1.5 * built_looseness_)) {
    sort_along_curve(start);
    fit(start, start_);
    built_looseness_ = looseness(start);
  }
  if (end.empty()) {
    end_.clear();
  } else {
    fit(end, end_);
  }
}

unsigned BoxTree::touching(const Packet& packet, const FloatBox& box) {
  unsigned mask = 0;
  for (int lane = 0; lane < width; ++lane) {
    const bool apart = (packet.lower[0][lane] > box.upper[0]) | (packet.upper[0][lane] < box.lower[0]) |
                       (packet.lower[1][lane] > box.upper[1]) | (packet.upper[1][lane] < box.lower[1]) |
                       (packet.lower[2][lane] > box.upper[2]) | (packet.upper[2][lane] < box.lower[2]);
    mask |= unsigned(!apart) << lane;
  }
  return mask;
}

unsigned BoxTree::touching(const Packet& packet0, const Packet& packet1, const FloatBox& box0,
                           const FloatBox& box1) {
  // Along one axis and side, the boxes are apart by s(t) = (1−t) s0 + t s1, positive if apart. If the sign
  // changes, the time of change bounds when they can touch; they do if the bounds of all axes and sides leave
  // a common time.
  float first[width], last[width];
  for (int lane = 0; lane < width; ++lane) {
    first[lane] = 0;
    last[lane] = 1;
  }
  const auto limit = [&](int lane, float s0, float s1) {
    const float change =
        s0 / (s0 - s1);  // used only if the signs differ: no cancellation, error below 4 roundings
    const float from = s0 > 0 ? (s1 > 0 ? 2.0f : change * (1 - 1e-6f)) : 0.0f;
    const float until = s1 > 0 && !(s0 > 0) ? change * (1 + 1e-6f) : 1.0f;
    first[lane] = from > first[lane] ? from : first[lane];
    last[lane] = until < last[lane] ? until : last[lane];
  };
  for (int k = 0; k < 3; ++k)
    for (int lane = 0; lane < width; ++lane) {
      limit(lane, packet0.lower[k][lane] - box0.upper[k], packet1.lower[k][lane] - box1.upper[k]);
      limit(lane, box0.lower[k] - packet0.upper[k][lane], box1.lower[k] - packet1.upper[k][lane]);
    }
  unsigned mask = 0;
  for (int lane = 0; lane < width; ++lane) mask |= unsigned(!(first[lane] > last[lane])) << lane;
  return mask;
}

template <bool moving>
void BoxTree::visit(const FloatBox& start, const FloatBox& end, std::vector<Index>& hits) const {
  struct Entry {
    int level;
    Index packet;
  };
  Entry stack[width * 11];  // at most 7 waiting per level, and 8¹¹ boxes exceed Index
  int size = 0;
  stack[size++] = {int(start_.size()) - 1, 0};
  while (size > 0) {
    const auto [level, p] = stack[--size];
    const Packet& packet = start_[level][p];
    unsigned mask;
    if constexpr (moving) {
      mask = touching(packet, end_[level][p], start, end);
    } else {
      mask = touching(packet, start);
    }
    for (; mask != 0; mask &= mask - 1) {
      const Index i = p * width + std::countr_zero(mask);
      if (level == 0) {
        hits.push_back(order_[i]);
      } else {
        stack[size++] = {level - 1, i};
      }
    }
  }
}

void BoxTree::query(const FloatBox& start, const FloatBox& end, std::vector<Index>& hits) const {
  if (order_.empty()) return;
  if (end_.empty()) {
    visit<false>(start, end, hits);
  } else {
    visit<true>(start, end, hits);
  }
}

}  // namespace apart
