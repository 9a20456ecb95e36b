#include <apart/collision/box_tree.hpp>
#include <apart/core/parallel.hpp>
#include <apart/core/radix_sort.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace apart {

namespace {

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
    const auto twice_centre = [&](Index i) { return double(boxes[i].lower[k]) + double(boxes[i].upper[k]); };
    lowest[k] = parallel_min(count, std::numeric_limits<double>::infinity(), twice_centre, 4096);
    longest =
        std::max(longest, parallel_max(count, -std::numeric_limits<double>::infinity(), twice_centre, 4096) -
                              lowest[k]);
  }
  // One scale for all axes: cells of the curve are cubes.
  const double scale = longest > 0 ? double((1 << 21) - 1) / longest : 0;
  std::vector<std::uint64_t> codes(count);
  parallel_for(count, [&](Index i) {
    std::uint64_t code = 0;
    for (int k = 0; k < 3; ++k) {
      const double at = (double(boxes[i].lower[k]) + double(boxes[i].upper[k]) - lowest[k]) * scale;
      // Written so that a NaN (boxes that overflow single precision) counts as 0.
      const double inside = at > 0 ? std::min(at, double((1 << 21) - 1)) : 0;
      code |= spread(std::uint64_t(inside)) << k;
    }
    codes[i] = code;
  });
  order_ = sorted_order(codes);
}

void BoxTree::fit(std::span<const FloatBox> boxes, Levels& levels) const {
  const Index count = Index(boxes.size());
  std::size_t depth = 0;
  for (Index below = count; depth == 0 || below > 1; ++depth) {
    const Index packets = std::max<Index>(1, (below + width - 1) / width);
    if (levels.size() <= depth) levels.emplace_back();
    levels[depth].resize(packets);
    parallel_for(packets, [&, depth](Index p) {
      BoxPacket& packet = levels[depth][p];
      for (int lane = 0; lane < width; ++lane) {
        const Index i = p * width + lane;
        if (i >= below) {
          packet.clear(lane);
        } else {
          packet.set(lane, depth == 0 ? boxes[order_[i]] : levels[depth - 1][i].hull());
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
    const BoxPacket& packet = start_[1][p / width];
    double sum = 0;
    for (int k = 0; k < 3; ++k)
      sum += double(packet.upper[k][p % width]) - double(packet.lower[k][p % width]);
    return sum;
  });
  return inner > 0 ? outer / inner : 0;
}

void BoxTree::update(const MovingBoxes& boxes) {
  const bool fresh = order_.size() != boxes.start.size();
  if (fresh) sort_along_curve(boxes.start);
  fit(boxes.start, start_);
  const double now = looseness(boxes.start);
  if (fresh) {
    built_looseness_ = now;
  } else if (!(now <= 1.5 * built_looseness_)) {
    sort_along_curve(boxes.start);
    fit(boxes.start, start_);
    built_looseness_ = looseness(boxes.start);
  }
  if (boxes.end.empty()) {
    end_.clear();
  } else {
    fit(boxes.end, end_);
  }
}

/// Leaves of `other` are visited in order, from number `resume` on, which is then set to the one to go on
/// with.
template <bool moving>
bool BoxTree::join(Index packet, const BoxTree& other, Index& resume, std::size_t enough,
                   BoxPairs& pairs) const {
  const bool self = this == &other;
  const auto touching_at = [&](int level, Index p, const FloatBox& box0, const FloatBox& box1) {
    if constexpr (moving) {
      return touching(other.start_[level][p], other.end_[level][p], box0, box1);
    } else {
      return touching(other.start_[level][p], box0);
    }
  };
  // First the packets that touch this one, then the boxes in them that touch one of its boxes. Of two packets
  // of the same tree the one that comes first in the order looks for the other.
  const BoxPacket& mine0 = start_[0][packet];
  const BoxPacket& mine1 = moving ? end_[0][packet] : mine0;
  const FloatBox all0 = mine0.hull(), all1 = moving ? mine1.hull() : all0;
  const Index first_leaf = self ? std::max(packet, resume) : resume;
  const Index lanes = std::min<Index>(width, Index(order_.size()) - packet * width);
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
      // The last first, so that the first comes out of the stack first.
      for (unsigned mask = touching_at(level, p, all0, all1); mask != 0;) {
        const int lane = std::bit_width(mask) - 1;
        mask ^= 1u << lane;
        const Index child = p * width + lane;
        const bool before = (std::int64_t(child) + 1) << (3 * (level - 1)) <= first_leaf;
        if (!before) stack[size++] = {level - 1, child};
      }
      continue;
    }
    if (pairs.size() >= enough) {
      resume = p;
      return false;
    }
    for (int lane = 0; lane < lanes; ++lane) {
      const FloatBox box0 = mine0.box(lane), box1 = moving ? mine1.box(lane) : box0;
      unsigned mask = touching_at(0, p, box0, box1);
      if (self && p == packet) mask &= ~0u << (lane + 1);
      for (; mask != 0; mask &= mask - 1)
        pairs.push_back({order_[packet * width + lane], other.order_[p * width + std::countr_zero(mask)]});
    }
  }
  return true;
}

// Packets of one task.
constexpr Index task_size = 64;

Index BoxTree::task_count(const BoxTree& other) const {
  return other.order_.empty() ? 0 : (packet_count() + task_size - 1) / task_size;
}

bool BoxTree::find(const BoxTree& other, Index task, SearchCursor& cursor, std::size_t enough,
                   BoxPairs& pairs) const {
  enough += pairs.size();
  const Index begin = task * task_size, end = std::min(packet_count(), begin + task_size);
  for (; begin + cursor.first < end; ++cursor.first, cursor.second = 0) {
    const Index packet = begin + cursor.first;
    const bool done = end_.empty() ? join<false>(packet, other, cursor.second, enough, pairs)
                                   : join<true>(packet, other, cursor.second, enough, pairs);
    if (!done) return false;
  }
  return true;
}

}  // namespace apart
