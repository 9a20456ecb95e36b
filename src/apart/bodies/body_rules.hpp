#pragma once
// Rules that depend on the kind of body, for code that builds scenes.
#include <apart/bodies/body.hpp>
#include <apart/geometry/aabb.hpp>

namespace apart {

/// Whether a body moves as a whole, so that it can only be held, scripted or accelerated as a whole.
bool moves_as_whole(const Body& body);

/// Whether contact between two bodies, or of a body with itself (the same object twice), can have an effect.
/// Bodies that cannot be pushed do not push each other apart, and a body that moves as a whole does not
/// collide with itself.
bool can_touch(const Body& a, const Body& b);

/// The box around the points of a body at the start, rods and balls with their radius; empty for a
/// half-space.
Aabb extent_of(const Body& body);

}  // namespace apart
