#pragma once
#include <apart/bodies/body.hpp>

namespace apart {

/// What came of giving a body another surface to collide with.
struct CollisionSkin {
  Body body;
  Index outside = 0;       ///< points of the surface that lie outside of the body and follow it all the same
  double growth = 1;       ///< largest Σ|w| of a point: 1 inside a linear cell
  Index growth_point = 0;  ///< where
};

/// A volume that collides with the triangles of `surface` instead of its own boundary: each of their points
/// moves with the cell that it lies in, x = W q, or, outside of all, with one near it, as if that cell went
/// on. Points of the body are its nodes, then those of the surface. Throws InputError that begins with
/// `where`, for surfaces that are too far from the body to follow it.
CollisionSkin with_collision_skin(Body body, const Mesh& surface, const std::string& where);

}  // namespace apart
