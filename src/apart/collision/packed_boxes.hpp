#pragma once
#include <apart/collision/box_packet.hpp>

#include <vector>

namespace apart {

/// Boxes in an order of their own, eight to a packet. A place is a position in that order.
class PackedBoxes {
 public:
  static constexpr int width = BoxPacket::width;

  /// The box at place i is boxes[order[i]].
  void pack(const MovingBoxes& boxes, const std::vector<Index>& order);

  FloatBox start(Index place) const { return start_[place / width].box(place % width); }
  /// At rest where it started.
  FloatBox end(Index place) const { return (moving_ ? end_ : start_)[place / width].box(place % width); }
  /// Which boxes of a packet touch one that goes from box0 to box1, as bits.
  unsigned touching(Index packet, const FloatBox& box0, const FloatBox& box1) const {
    return moving_ ? apart::touching(start_[packet], end_[packet], box0, box1)
                   : apart::touching(start_[packet], box0);
  }

 private:
  bool moving_ = false;
  std::vector<BoxPacket> start_, end_;
};

}  // namespace apart
