#pragma once
#include <apart/core/types.hpp>

#include <array>
#include <span>
#include <vector>

namespace apart {

/// An axis-aligned box in single precision. Whoever fills it rounds outward. The fourth entries only pad.
struct alignas(16) FloatBox {
  std::array<float, 4> lower, upper;
};

/// The smallest box around two.
inline FloatBox merge(const FloatBox& a, const FloatBox& b) {
  FloatBox m;
  for (int k = 0; k < 4; ++k) {
    m.lower[k] = a.lower[k] < b.lower[k] ? a.lower[k] : b.lower[k];
    m.upper[k] = a.upper[k] > b.upper[k] ? a.upper[k] : b.upper[k];
  }
  return m;
}

/// A bounding volume hierarchy without pointers: boxes are sorted along a space-filling curve, eight
/// neighbours make a packet, eight packets a packet of the next level, and so on. Fitting it to moved boxes
/// is one pass over the levels; the order is renewed when it no longer keeps neighbours together (see
/// `update`).
///
/// Boxes may move: box i is `start[i]` at time 0, `end[i]` at time 1, and the interpolation of the two
/// between. It contains everything whose points move straight from within the first to within the second.
class BoxTree {
 public:
  /// Fits the tree. Pass an empty `end` for boxes at rest. The order along the curve is kept while the
  /// packets' total size, relative to the total size of the boxes in them, has not grown by half since the
  /// order was made.
  void update(std::span<const FloatBox> start, std::span<const FloatBox> end);
  /// Number of packets of neighbouring boxes.
  Index packet_count() const { return (Index(order_.size()) + width - 1) / width; }
  /// Appends every pair (i, j) of a box i of the given packet and a box j of `other` that touch at the same
  /// time. With the tree itself as `other`, over all packets every pair i ≠ j comes once, in either order.
  /// Both trees are at rest or both move.
  void join(Index packet, const BoxTree& other, std::vector<std::array<Index, 2>>& pairs) const;

 private:
  static constexpr int width = 8;
  /// One number for each of eight boxes; the compiler makes vector instructions of operations on them.
  using Lanes [[gnu::vector_size(4 * width)]] = float;
  struct Packet {
    Lanes lower[3], upper[3];
  };
  using Levels = std::vector<std::vector<Packet>>;  // [0]: the boxes themselves; the last has one packet

  void sort_along_curve(std::span<const FloatBox> boxes);
  void fit(std::span<const FloatBox> boxes, Levels& levels) const;
  double looseness(std::span<const FloatBox> boxes) const;
  static FloatBox lane_box(const Packet& packet, int lane);
  static FloatBox packet_box(const Packet& packet);
  template <bool moving>
  void join_packet(Index packet, const BoxTree& other, std::vector<std::array<Index, 2>>& pairs) const;

  std::vector<Index> order_;  ///< box at each place along the curve
  double built_looseness_ = 0;
  Levels start_, end_;  ///< end_ is empty for boxes at rest
};

}  // namespace apart
