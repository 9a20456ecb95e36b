#include <apart/collision/box_tree.hpp>
#include <apart/core/parallel.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#ifdef __AVX__
#include <immintrin.h>
#endif

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
            for (int j = 0; j < width; ++j) {
              packet.lower[k][lane] = std::min<float>(packet.lower[k][lane], inner.lower[k][j]);
              packet.upper[k][lane] = std::max<float>(packet.upper[k][lane], inner.upper[k][j]);
            }
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

FloatBox BoxTree::lane_box(const Packet& packet, int lane) {
  FloatBox box = {};
  for (int k = 0; k < 3; ++k) {
    box.lower[k] = packet.lower[k][lane];
    box.upper[k] = packet.upper[k][lane];
  }
  return box;
}

FloatBox BoxTree::packet_box(const Packet& packet) {
  FloatBox box = lane_box(packet, 0);
  for (int lane = 1; lane < width; ++lane) box = merge(box, lane_box(packet, lane));
  return box;
}

namespace {

using Lanes [[gnu::vector_size(32)]] = float;
using LaneMask [[gnu::vector_size(32)]] = int;  // −1 where a comparison holds, 0 elsewhere

/// Bit i is set where lane i of the mask is.
unsigned bits(const LaneMask& mask) {
#ifdef __AVX__
  return unsigned(_mm256_movemask_ps(__m256(mask)));
#else
  unsigned result = 0;
  for (int lane = 0; lane < 8; ++lane) result |= unsigned(mask[lane] & 1) << lane;
  return result;
#endif
}

/// Which boxes of a packet touch the given one.
template <class Packet>
unsigned touching(const Packet& packet, const FloatBox& box) {
  const LaneMask apart = (packet.lower[0] > box.upper[0]) | (packet.upper[0] < box.lower[0]) |
                         (packet.lower[1] > box.upper[1]) | (packet.upper[1] < box.lower[1]) |
                         (packet.lower[2] > box.upper[2]) | (packet.upper[2] < box.lower[2]);
  return bits(~apart);
}

/// The same for boxes that move from packet0 and box0 to packet1 and box1.
template <class Packet>
unsigned touching(const Packet& packet0, const Packet& packet1, const FloatBox& box0, const FloatBox& box1) {
  // Along one axis and side, the boxes are apart by s(t) = (1−t) s0 + t s1, positive if apart. If the sign
  // changes, the time of change bounds when they can touch; they do if the bounds of all axes and sides leave
  // a common time.
  const Lanes zero = {};
  Lanes first = zero, last = zero + 1.0f;
  LaneMask apart = {};
  const auto limit = [&](const Lanes& s0, const Lanes& s1) {
    const LaneMask from = s0 > zero, until = s1 > zero;
    apart |= from & until;
    // Used only where the signs differ: no cancellation, fewer than four roundings. A NaN bounds nothing.
    const Lanes change = s0 / (s0 - s1);
    const Lanes early = change * (1 - 1e-6f), late = change * (1 + 1e-6f);
    first = (from & (early > first)) ? early : first;
    last = (until & (late < last)) ? late : last;
  };
  for (int k = 0; k < 3; ++k) {
    limit(packet0.lower[k] - box0.upper[k], packet1.lower[k] - box1.upper[k]);
    limit(box0.lower[k] - packet0.upper[k], box1.lower[k] - packet1.upper[k]);
  }
  return bits(~(apart | (first > last)));
}

}  // namespace

template <bool moving>
void BoxTree::join_packet(Index packet, const BoxTree& other,
                          std::vector<std::array<Index, 2>>& pairs) const {
  const bool self = this == &other;
  const auto touching_at = [&](int level, Index p, const FloatBox& box0, const FloatBox& box1) {
    if constexpr (moving) {
      return touching(other.start_[level][p], other.end_[level][p], box0, box1);
    } else {
      return touching(other.start_[level][p], box0);
    }
  };
  // First the packets that touch this one, then the boxes in them that touch one of its boxes.
  const Packet& mine0 = start_[0][packet];
  const Packet& mine1 = moving ? end_[0][packet] : mine0;
  const FloatBox all0 = packet_box(mine0), all1 = moving ? packet_box(mine1) : all0;
  struct Entry {
    int level;
    Index packet;
  };
  Entry stack[width * 11];  // at most 7 waiting per level, and 8¹¹ boxes exceed Index
  int size = 0;
  stack[size++] = {int(other.start_.size()) - 1, 0};
  while (size > 0) {
    const auto [level, p] = stack[--size];
    if (level > 0) {
      for (unsigned mask = touching_at(level, p, all0, all1); mask != 0; mask &= mask - 1) {
        const Index child = p * width + std::countr_zero(mask);
        // Of two packets of the same tree the one that comes first in the order looks for the other.
        const bool before = self && (std::int64_t(child) + 1) << (3 * (level - 1)) <= packet;
        if (!before) stack[size++] = {level - 1, child};
      }
      continue;
    }
    const Index lanes = std::min<Index>(width, Index(order_.size()) - packet * width);
    for (int lane = 0; lane < lanes; ++lane) {
      const FloatBox box0 = lane_box(mine0, lane), box1 = moving ? lane_box(mine1, lane) : box0;
      unsigned mask = touching_at(0, p, box0, box1);
      if (self && p == packet) mask &= ~0u << (lane + 1);
      for (; mask != 0; mask &= mask - 1)
        pairs.push_back({order_[packet * width + lane], other.order_[p * width + std::countr_zero(mask)]});
    }
  }
}

void BoxTree::join(Index packet, const BoxTree& other, std::vector<std::array<Index, 2>>& pairs) const {
  if (other.order_.empty()) return;
  if (end_.empty()) {
    join_packet<false>(packet, other, pairs);
  } else {
    join_packet<true>(packet, other, pairs);
  }
}

}  // namespace apart
