#pragma once
// Other libraries' searches for touching boxes, to compare ours with. All work on the same boxes in single
// precision and hand back the number of pairs i < j that touch.
#include <apart/collision/box_packet.hpp>

#include <memory>
#include <span>

namespace apart::bench {

class BoxPeer {
 public:
  virtual ~BoxPeer() = default;
  /// The same boxes as before, moved: updates whatever the library keeps, then finds all pairs.
  virtual std::size_t find(std::span<const FloatBox> boxes) = 0;
};

std::unique_ptr<BoxPeer> make_cgal_peer();  ///< box_intersection_d
std::unique_ptr<BoxPeer> make_fcl_peer();   ///< DynamicAABBTreeCollisionManager; null if built without FCL

}  // namespace apart::bench
