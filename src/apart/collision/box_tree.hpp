#pragma once
#include <apart/collision/box_search.hpp>

namespace apart {

/// A bounding volume hierarchy without pointers: boxes are sorted along a space-filling curve, eight
/// neighbours make a packet, eight packets a packet of the next level, and so on. Fitting it to moved boxes
/// is one pass over the levels; the order is renewed when it no longer keeps neighbours together (see
/// `update`).
class BoxTree {
 public:
  void divide(int team_size) { team_size_ = team_size; }
  /// Fits the tree. The order along the curve is kept while the packets' total size, relative to the total
  /// size of the boxes in them, has not grown by half since the order was made.
  void update(const MovingBoxes& boxes);
  Index task_count(const BoxTree& other) const;
  /// As BoxSearch::find. Both trees are at rest or both move.
  bool find(const BoxTree& other, Index task, SearchCursor& cursor, std::size_t enough,
            BoxPairs& pairs) const;

 private:
  static constexpr int width = BoxPacket::width;
  using Levels = std::vector<std::vector<BoxPacket>>;  // [0]: the boxes themselves; two at least; the last
                                                       // has one packet

  Index packets_of_task() const;
  Index packet_count() const { return (Index(order_.size()) + width - 1) / width; }
  void sort_along_curve(std::span<const FloatBox> boxes);
  void fit(std::span<const FloatBox> boxes, Levels& levels) const;
  double looseness(std::span<const FloatBox> boxes) const;
  template <bool moving>
  unsigned touching_at(int level, Index p, const FloatBox& box0, const FloatBox& box1) const;
  template <bool moving>
  void find_near(const FloatBox& box0, const FloatBox& box1, Index first_packet,
                 std::vector<Index>& near) const;
  template <bool moving>
  bool join(const BoxTree& other, Index task, SearchCursor& cursor, std::size_t enough,
            BoxPairs& pairs) const;

  std::vector<Index> order_;  ///< box at each place along the curve
  double built_looseness_ = 0;
  int team_size_ = 1;
  Levels start_, end_;  ///< end_ is empty for boxes at rest
};

}  // namespace apart
