#include <apart/collision/box_search.hpp>
#include <apart/collision/packed_boxes.hpp>
#include <apart/core/parallel.hpp>
#include <apart/core/radix_sort.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace apart {

namespace {

/// An integer with the order of the float.
std::uint32_t ordered(float f) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

/// Boxes sorted by where their path begins along an axis. A box can touch only boxes that begin within its
/// own extent, which are neighbours in this order, and boxes within whose extent it begins.
class SweepList {
 public:
  void divide(int team_size) { team_size_ = team_size; }
  /// Before `update`; lists that are searched together have the same axis.
  void set_axis(int axis) { axis_ = axis; }

  void update(const MovingBoxes& boxes) {
    const Index count = boxes.size();
    std::vector<std::uint64_t> keys(count);
    parallel_for(count, [&](Index i) { keys[i] = ordered(boxes.swept(i).lower[axis_]); });
    order_ = sorted_order(keys);
    boxes_.pack(boxes, order_);
    begins_.resize(count);
    ends_.resize(count);
    parallel_for(count, [&](Index place) {
      const FloatBox swept = boxes.swept(order_[place]);
      begins_[place] = swept.lower[axis_];
      ends_[place] = swept.upper[axis_];
    });
  }

  Index task_count(const SweepList& other) const {
    if (order_.empty() || other.order_.empty()) return 0;
    return own_tasks() + (this == &other ? 0 : other.own_tasks());
  }

  bool find(const SweepList& other, Index task, SearchCursor& cursor, std::size_t enough,
            BoxPairs& pairs) const {
    enough += pairs.size();
    if (this == &other) return scan<Order::self>(*this, task, cursor, enough, pairs);
    // First the boxes of `other` that do not begin before one of these, then the opposite.
    if (task < own_tasks()) return scan<Order::not_before>(other, task, cursor, enough, pairs);
    return other.scan<Order::after>(*this, task - own_tasks(), cursor, enough, pairs);
  }

 private:
  static constexpr int width = PackedBoxes::width;
  enum class Order { self, not_before, after };

  Index boxes_of_task() const { return task_size(Index(order_.size()), 256, team_size_); }
  Index own_tasks() const { return (Index(order_.size()) + boxes_of_task() - 1) / boxes_of_task(); }

  /// For each box of the task, those of `other` that begin within its extent. The cursor holds the number of
  /// the box and the packet of `other` to go on with.
  template <Order rule>
  bool scan(const SweepList& other, Index task, SearchCursor& cursor, std::size_t enough,
            BoxPairs& pairs) const {
    const Index size = boxes_of_task();
    const Index begin = task * size, end = std::min(Index(order_.size()), begin + size);
    const auto& begins = other.begins_;
    const auto first_partner = [&](Index place) {
      if (rule == Order::self) return place + 1;
      const auto at = rule == Order::not_before
                          ? std::lower_bound(begins.begin(), begins.end(), begins_[place])
                          : std::upper_bound(begins.begin(), begins.end(), begins_[place]);
      return Index(at - begins.begin());
    };
    for (; begin + cursor.first < end; ++cursor.first, cursor.second = 0) {
      const Index place = begin + cursor.first;
      const FloatBox box0 = boxes_.start(place), box1 = boxes_.end(place);
      const Index first = first_partner(place);
      for (Index p = std::max(first / width, cursor.second);
           p * width < Index(begins.size()) && begins[p * width] <= ends_[place]; ++p) {
        if (pairs.size() >= enough) {
          cursor.second = p;
          return false;
        }
        unsigned mask = other.boxes_.touching(p, box0, box1);
        if (p == first / width) mask &= ~0u << (first % width);
        for (; mask != 0; mask &= mask - 1) {
          const Index partner = other.order_[p * width + std::countr_zero(mask)];
          if (rule == Order::after) {
            pairs.push_back({partner, order_[place]});
          } else {
            pairs.push_back({order_[place], partner});
          }
        }
      }
    }
    return true;
  }

  int axis_ = 0, team_size_ = 1;
  std::vector<Index> order_;          ///< box at each place
  std::vector<float> begins_, ends_;  ///< of the path at each place along the axis; begins_ ascend
  PackedBoxes boxes_;                 ///< in this order
};

class SweepAndPrune final : public BoxSearchOf<SweepList> {
 public:
  void update(const std::array<MovingBoxes, box_set_count>& sets) override {
    // Along the axis on which the boxes are smallest relative to how far they are spread. Which one is chosen
    // changes the cost and nothing else.
    int axis = 0;
    double best = -1;
    for (int k = 0; k < 3; ++k) {
      double sum = 0, squares = 0, extent = 0, count = 0;
      for (const MovingBoxes& set : sets) {
        count += set.size();
        const auto add = [&](auto&& term) { return ordered_sum(set.size(), term, 4096); };
        const auto centre = [&](Index i) {
          const FloatBox box = set.swept(i);
          return 0.5 * (double(box.lower[k]) + double(box.upper[k]));
        };
        sum += add(centre);
        squares += add([&](Index i) { return centre(i) * centre(i); });
        extent += add([&](Index i) {
          const FloatBox box = set.swept(i);
          return double(box.upper[k]) - double(box.lower[k]);
        });
      }
      if (count == 0) continue;
      const double spread = std::sqrt(std::max(0.0, squares / count - (sum / count) * (sum / count)));
      const double quality = extent > 0 ? spread / extent : 0;
      if (quality > best) {
        best = quality;
        axis = k;
      }
    }
    for (SweepList& list : sets_) list.set_axis(axis);
    BoxSearchOf::update(sets);
  }
};

}  // namespace

std::unique_ptr<BroadPhase> make_sweep_and_prune(const CollisionSurface& surface) {
  return make_box_broad_phase(surface, std::make_unique<SweepAndPrune>());
}

}  // namespace apart
