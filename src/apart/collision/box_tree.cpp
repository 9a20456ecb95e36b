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

/// Centre of a box, and its number.
struct Centre {
  std::array<float, 3> at;
  Index box;
};

/// Orders centres so that each run of `unit` of them, and within it each run of unit/8, …, down to 8, lies
/// close together: cuts at the middle across the longest side.
void cut(Centre* begin, Centre* end, std::ptrdiff_t unit) {
  while (unit > 1 && end - begin <= unit) unit /= BoxPacket::width;
  if (unit <= 1) return;
  std::array<float, 3> low = begin->at, high = low;
  for (const Centre* c = begin; c != end; ++c)
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], c->at[k]);
      high[k] = std::max(high[k], c->at[k]);
    }
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
  const std::ptrdiff_t units = (end - begin + unit - 1) / unit;
  Centre* middle = begin + units / 2 * unit;
  std::nth_element(begin, middle, end, [axis](const Centre& a, const Centre& b) {
    return a.at[axis] != b.at[axis] ? a.at[axis] < b.at[axis] : a.box < b.box;
  });
  cut(begin, middle, unit);
  cut(middle, end, unit);
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
  // The curve jumps here and there, and eight neighbours on it make a larger packet than eight well chosen
  // ones: about half of the pairs of touching packets contain no touching boxes. Sorting runs of a few
  // thousand costs as much as one search saves.
  constexpr Index run = 4096;
  parallel_chunks(count, run, [&](Index begin, Index end) {
    std::vector<Centre> centres;
    centres.reserve(run);
    for (Index i = begin; i < end; ++i) {
      const FloatBox& box = boxes[order_[i]];
      // Halved first: the sum of two large numbers may not overflow, nor be a NaN that cannot be compared.
      Centre centre{{}, order_[i]};
      for (int k = 0; k < 3; ++k) centre.at[k] = 0.5f * box.lower[k] + 0.5f * box.upper[k];
      centres.push_back(centre);
    }
    cut(centres.data(), centres.data() + centres.size(), run);
    for (Index i = begin; i < end; ++i) order_[i] = centres[i - begin].box;
  });
}

void BoxTree::fit(std::span<const FloatBox> boxes, Levels& levels) const {
  const Index count = Index(boxes.size());
  std::size_t depth = 0;
  for (Index below = count; depth < 2 || below > 1; ++depth) {
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
  if (start_[0].size() < 2) return 0;  // one packet: no order can be better
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

namespace {

// Packets that are searched for together: below one packet of level 1.
constexpr Index group_size = BoxPacket::width;

}  // namespace

Index BoxTree::packets_of_task() const {
  return task_size(packet_count(), 64, team_size_);
}

template <bool moving>
unsigned BoxTree::touching_at(int level, Index p, const FloatBox& box0, const FloatBox& box1) const {
  if constexpr (moving) {
    return touching(start_[level][p], end_[level][p], box0, box1);
  } else {
    return touching(start_[level][p], box0);
  }
}

/// The packets of level 1 that a box touches, in order, without those that end before a packet of level 0.
template <bool moving>
void BoxTree::find_near(const FloatBox& box0, const FloatBox& box1, Index first_packet,
                        std::vector<Index>& near) const {
  near.clear();
  struct Entry {
    int level;
    Index packet;
  };
  Entry stack[width * 11];  // at most 7 waiting per level, and 8¹¹ boxes exceed Index
  int size = 0;
  stack[size++] = {int(start_.size()) - 1, 0};
  while (size > 0) {
    const auto [level, p] = stack[--size];
    if (level == 1) {
      near.push_back(p);
      continue;
    }
    // The last first, so that the first comes out of the stack first.
    for (unsigned mask = touching_at<moving>(level, p, box0, box1); mask != 0;) {
      const int lane = std::bit_width(mask) - 1;
      mask ^= 1u << lane;
      const Index child = p * width + lane;
      const bool before = (std::int64_t(child) + 1) << (3 * (level - 1)) <= first_packet;
      if (!before) stack[size++] = {level - 1, child};
    }
  }
}

template <bool moving>
bool BoxTree::join(const BoxTree& other, Index task, SearchCursor& cursor, std::size_t enough,
                   BoxPairs& pairs) const {
  // What a group of packets touches in the upper levels, then what each packet touches there, and at last the
  // boxes. Of two packets of the same tree the one that comes first in the order looks for the other.
  const bool self = this == &other;
  const Index size = packets_of_task();
  const Index begin = task * size, end = std::min(packet_count(), begin + size);
  std::vector<Index> near;
  Index group = -1;
  for (; begin + cursor.first < end; ++cursor.first, cursor.second = 0) {
    const Index packet = begin + cursor.first;
    if (packet / group_size != group) {
      group = packet / group_size;
      const FloatBox around = start_[1][group].hull();
      other.find_near<moving>(around, moving ? end_[1][group].hull() : around, self ? packet : 0, near);
    }
    const BoxPacket& mine0 = start_[0][packet];
    const BoxPacket& mine1 = moving ? end_[0][packet] : mine0;
    const FloatBox all0 = start_[1][group].box(packet % width);
    const FloatBox all1 = moving ? end_[1][group].box(packet % width) : all0;
    const Index first_leaf = self ? std::max(packet, cursor.second) : cursor.second;
    for (const Index parent : near) {
      if ((parent + 1) * width <= first_leaf) continue;
      unsigned leaves = other.touching_at<moving>(1, parent, all0, all1);
      if (parent * width < first_leaf) leaves &= ~0u << (first_leaf - parent * width);
      for (; leaves != 0; leaves &= leaves - 1) {
        const int place = std::countr_zero(leaves);
        const Index leaf = parent * width + place;
        if (pairs.size() >= enough) {
          cursor.second = leaf;
          return false;
        }
        // Only those of its boxes that touch the box around the leaf; fewer than half do.
        const FloatBox leaf0 = other.start_[1][parent].box(place);
        const FloatBox leaf1 = moving ? other.end_[1][parent].box(place) : leaf0;
        for (unsigned mine = touching_at<moving>(0, packet, leaf0, leaf1); mine != 0; mine &= mine - 1) {
          const int lane = std::countr_zero(mine);
          unsigned theirs = other.touching_at<moving>(0, leaf, mine0.box(lane), mine1.box(lane));
          if (self && leaf == packet) theirs &= ~0u << (lane + 1);
          for (; theirs != 0; theirs &= theirs - 1)
            pairs.push_back(
                {order_[packet * width + lane], other.order_[leaf * width + std::countr_zero(theirs)]});
        }
      }
    }
  }
  return true;
}

Index BoxTree::task_count(const BoxTree& other) const {
  const Index size = packets_of_task();
  return other.order_.empty() ? 0 : (packet_count() + size - 1) / size;
}

bool BoxTree::find(const BoxTree& other, Index task, SearchCursor& cursor, std::size_t enough,
                   BoxPairs& pairs) const {
  enough += pairs.size();
  return end_.empty() ? join<false>(other, task, cursor, enough, pairs)
                      : join<true>(other, task, cursor, enough, pairs);
}

}  // namespace apart
