#pragma once
#include <apart/collision/box_packet.hpp>
#include <apart/collision/collision_surface.hpp>

#include <vector>

namespace apart {

/// Bodies first: which of them come near each other, by the boxes around all their vertices. A primitive of a
/// body without contact with itself that is near no other body can be in no pair, and need not be searched.
/// In heaps of bodies with fine surfaces that is nearly all there is.
class NearPrimitives {
 public:
  explicit NearPrimitives(const CollisionSurface& surface);
  /// Whether the bodies have so much in them that leaving it out is worth the trouble.
  bool is_worth_it() const { return worth_it_; }
  /// New boxes of the vertices, at the start and at the end of their paths; no end: they rest. Bodies of
  /// which `apart` is true are not compared with each other; empty: it is of none.
  void update(std::span<const FloatBox> start, std::span<const FloatBox> end,
              std::span<const char> apart = {});
  /// Whether a primitive of a vertex's body is near something that it may touch. `end` is the box at the end
  /// of its path, that at the start if it rests.
  bool contains(Index vertex, const FloatBox& start, const FloatBox& end) const;

 private:
  /// What is around a body at both ends of its path: a box, and a ball about the middle of the box.
  struct Hull {
    MovingBox box;
    std::array<std::array<float, 3>, 2> centre = {};
    std::array<float, 2> radius = {};
  };
  static bool misses_ball(const MovingBox& box, const Hull& ball);
  void find_hulls(std::span<const FloatBox> start, std::span<const FloatBox> end);

  std::vector<int> vertex_body_;
  std::vector<char> is_carrier_;    ///< vertices that touch nothing themselves
  std::vector<char> meets_itself_;  ///< bodies
  PairTable pairs_;
  bool worth_it_ = false;
  std::vector<Hull> body_;                   ///< around all vertices of each
  std::vector<std::vector<Hull>> partners_;  ///< around the bodies that each may touch
};

}  // namespace apart
