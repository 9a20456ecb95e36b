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

/// Boxes in a hashed grid of cubic cells, or rather in several: a box is stored in the grid whose cells are
/// the next power of two above its largest extent, and there in the one cell that holds its lower corner. So
/// a huge box takes one place like a small one, and a box at most as large as the cells of a grid can touch
/// only boxes stored in 3 × 3 × 3 of them. All comparisons are exact: scaling by powers of two and rounding
/// down to whole cells lose nothing.
///
/// Within a grid boxes are sorted by cell, z and y first; a row of cells along x is then one range of places.
/// The hash table is one of rows.
class HashGrid {
 public:
  void divide(int team_size) { team_size_ = team_size; }
  void update(const MovingBoxes& boxes) {
    const Index count = boxes.size();
    levels_.clear();
    // Cells are no smaller than 2⁻¹⁸ of the scene, so that their numbers fit.
    const double farthest = parallel_max(
        count, 0.0,
        [&](Index i) {
          const FloatBox box = boxes.swept(i);
          double size = 0;
          for (int k = 0; k < 3; ++k)
            size = std::max({size, std::abs(double(box.lower[k])), std::abs(double(box.upper[k]))});
          return size;
        },
        4096);
    const int lowest = exponent_above(farthest) - (cell_bits - 1);
    level_of_.resize(count);
    std::vector<std::uint64_t> keys(count);
    parallel_for(count, [&](Index i) {
      const FloatBox box = boxes.swept(i);
      double extent = 0;
      for (int k = 0; k < 3; ++k) extent = std::max(extent, double(box.upper[k]) - double(box.lower[k]));
      const int level = std::max(exponent_above(extent), lowest);
      level_of_[i] = level;
      keys[i] = key(level - lowest, cell(box.lower[0], level), cell(box.lower[1], level),
                    cell(box.lower[2], level));
    });
    order_ = sorted_order(keys);

    boxes_.pack(boxes, order_);
    column_.resize(count);
    parallel_for(count, [&](Index place) {
      column_[place] = std::int32_t(keys[order_[place]] & ((1 << cell_bits) - 1)) - offset;
    });

    // Rows, and the grids they make.
    rows_.clear();
    for (Index place = 0; place < count; ++place) {
      const std::uint64_t row = keys[order_[place]] >> cell_bits;
      if (!rows_.empty() && rows_.back().key == row) continue;
      const int level = int(row >> (2 * cell_bits)) + lowest;
      if (levels_.empty() || levels_.back().level != level)
        levels_.push_back({.level = level, .begin = place});
      Level& grid = levels_.back();
      const std::int32_t y = std::int32_t(row & ((1 << cell_bits) - 1)) - offset;
      const std::int32_t z = std::int32_t(row >> cell_bits & ((1 << cell_bits) - 1)) - offset;
      grid.lowest = {std::min(grid.lowest[0], y), std::min(grid.lowest[1], z)};
      grid.highest = {std::max(grid.highest[0], y), std::max(grid.highest[1], z)};
      rows_.push_back({row, place});
    }
    rows_.push_back({~std::uint64_t(0), count});
    for (std::size_t l = 0; l < levels_.size(); ++l)
      levels_[l].end = l + 1 < levels_.size() ? levels_[l + 1].begin : count;
    lowest_ = lowest;
    const std::size_t slots = std::bit_ceil(2 * rows_.size());
    table_.assign(slots, -1);
    for (std::size_t r = 0; r + 1 < rows_.size(); ++r) {
      std::size_t slot = hash(rows_[r].key) & (slots - 1);
      while (table_[slot] >= 0) slot = (slot + 1) & (slots - 1);
      table_[slot] = Index(r);
    }
  }

  Index task_count(const HashGrid& other) const {
    if (order_.empty() || other.order_.empty()) return 0;
    return own_tasks() + (this == &other ? 0 : other.own_tasks());
  }

  bool find(const HashGrid& other, Index task, SearchCursor& cursor, std::size_t enough,
            BoxPairs& pairs) const {
    enough += pairs.size();
    // Of two boxes the one in the finer grid searches for the other.
    if (this == &other) return look_up<Rule::self>(*this, task, cursor, enough, pairs);
    if (task < own_tasks()) return look_up<Rule::not_finer>(other, task, cursor, enough, pairs);
    return other.look_up<Rule::coarser>(*this, task - own_tasks(), cursor, enough, pairs);
  }

 private:
  static constexpr int width = PackedBoxes::width;
  static constexpr int cell_bits = 19;
  static constexpr std::int32_t offset = 1 << (cell_bits - 1);
  enum class Rule { self, not_finer, coarser };

  /// e with 2^e ≥ v, and 2^(e−1) ≤ v unless v is 0. Above a rounded difference of two floats it is also above
  /// the exact one: rounding does not pass a power of two.
  static int exponent_above(double v) {
    int e = -1000;
    if (v > 0) std::frexp(v, &e);
    return e;
  }
  /// Which cell of a grid a coordinate lies in.
  static std::int32_t cell(float v, int level) {
    const double at = std::floor(std::ldexp(double(v), -level));
    return std::int32_t(std::clamp(at, -1.0 * offset, offset - 1.0));
  }
  static std::uint64_t row_key(int level, std::int32_t y, std::int32_t z) {
    return (std::uint64_t(level) << cell_bits | std::uint64_t(z + offset)) << cell_bits |
           std::uint64_t(y + offset);
  }
  static std::uint64_t key(int level, std::int32_t x, std::int32_t y, std::int32_t z) {
    return row_key(level, y, z) << cell_bits | std::uint64_t(x + offset);
  }
  static std::size_t hash(std::uint64_t row) {
    row *= 0x9e3779b97f4a7c15u;
    return std::size_t(row ^ row >> 32);
  }
  Index boxes_of_task() const { return task_size(Index(order_.size()), 512, team_size_); }
  Index own_tasks() const { return (Index(order_.size()) + boxes_of_task() - 1) / boxes_of_task(); }

  /// The places of a row's boxes; none if there is no such row.
  std::array<Index, 2> places(std::uint64_t row) const {
    for (std::size_t slot = hash(row) & (table_.size() - 1); table_[slot] >= 0;
         slot = (slot + 1) & (table_.size() - 1)) {
      const Index r = table_[slot];
      if (rows_[r].key == row) return {rows_[r].begin, rows_[r + 1].begin};
    }
    return {0, 0};
  }

  /// For each box of the task, those it touches in the grids of `other` that the rule names. Places are
  /// visited in order; the cursor holds the box and the place to go on with.
  template <Rule rule>
  bool look_up(const HashGrid& other, Index task, SearchCursor& cursor, std::size_t enough,
               BoxPairs& pairs) const {
    const Index size = boxes_of_task();
    const Index begin = task * size, end = std::min(Index(order_.size()), begin + size);
    for (; begin + cursor.first < end; ++cursor.first, cursor.second = 0) {
      const Index place = begin + cursor.first;
      const int level = level_of_[order_[place]];
      const FloatBox box0 = boxes_.start(place), box1 = boxes_.end(place), swept = merge(box0, box1);
      const Index first = rule == Rule::self ? std::max(cursor.second, place + 1) : cursor.second;
      for (const Level& grid : other.levels_) {
        if (grid.end <= first) continue;
        if (rule == Rule::coarser ? grid.level <= level : grid.level < level) continue;
        // What touches begins no more than one cell before this box, and not after it ends.
        std::array<std::int32_t, 3> low, high;
        for (int k = 0; k < 3; ++k) {
          low[k] = cell(swept.lower[k], grid.level) - 1;
          high[k] = cell(swept.upper[k], grid.level);
        }
        for (int k : {0, 1}) {
          low[k + 1] = std::max(low[k + 1], grid.lowest[k]);
          high[k + 1] = std::min(high[k + 1], grid.highest[k]);
        }
        for (std::int32_t z = low[2]; z <= high[2]; ++z)
          for (std::int32_t y = low[1]; y <= high[1]; ++y) {
            auto [from, to] = other.places(row_key(grid.level - other.lowest_, y, z));
            if (to <= first) continue;
            const auto column = other.column_.begin();
            from = std::max(first, Index(std::lower_bound(column + from, column + to, low[0]) - column));
            for (Index p = from / width; p * width < to && from < to; ++p) {
              const Index left = std::max(from, p * width), right = std::min(to, (p + 1) * width);
              if (other.column_[left] > high[0]) break;
              if (pairs.size() >= enough) {
                cursor.second = left;
                return false;
              }
              unsigned mask = other.boxes_.touching(p, box0, box1);
              mask &= ~0u << (left - p * width);
              mask &= ~0u >> (32 - (right - p * width));
              for (; mask != 0; mask &= mask - 1) {
                const Index partner = other.order_[p * width + std::countr_zero(mask)];
                if (rule == Rule::coarser) {
                  pairs.push_back({partner, order_[place]});
                } else {
                  pairs.push_back({order_[place], partner});
                }
              }
            }
          }
      }
    }
    return true;
  }

  /// A grid that is not empty.
  struct Level {
    int level = 0;                                          ///< cells have the size 2^level
    Index begin = 0, end = 0;                               ///< its places
    std::array<std::int32_t, 2> lowest = {offset, offset};  ///< cells along y and z that hold something
    std::array<std::int32_t, 2> highest = {-offset, -offset};
  };
  struct Row {
    std::uint64_t key;  ///< level, z, y
    Index begin;        ///< its places end where those of the next begin
  };

  int lowest_ = 0;             ///< level of the finest grid that there may be
  std::vector<int> level_of_;  ///< of each box
  std::vector<Index> order_;   ///< box at each place
  int team_size_ = 1;
  std::vector<std::int32_t> column_;  ///< cell along x at each place
  PackedBoxes boxes_;                 ///< in this order
  std::vector<Level> levels_;         ///< finest first
  std::vector<Row> rows_;             ///< in order, and one behind the last
  std::vector<Index> table_;          ///< rows by hash, −1 where free
};

}  // namespace

std::unique_ptr<BroadPhase> make_spatial_hash(const CollisionSurface& surface) {
  return make_box_broad_phase(surface, std::make_unique<BoxSearchOf<HashGrid>>());
}

}  // namespace apart
