#pragma once
// What holds for bodies by their kind, for those who put scenes together.
#include <apart/bodies/body.hpp>
#include <apart/geometry/aabb.hpp>

namespace apart {

/// Whether all points of a body are moved together: what holds, moves or accelerates it concerns it as a
/// whole.
bool moves_as_whole(const Body& body);

/// Whether contact between two bodies, or of a body with itself (the same object twice), can have an effect.
/// Bodies that cannot be pushed do not push each other apart, and what moves as a whole does not meet itself.
bool can_touch(const Body& a, const Body& b);

/// The box around the points of a body at the start, rods and balls with their radius; empty for a
/// half-space.
Aabb extent_of(const Body& body);

}  // namespace apart
