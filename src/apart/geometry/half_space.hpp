#pragma once
#include <apart/core/types.hpp>

namespace apart {

/// The solid half {x : normal·(x − origin) < 0}; nothing may enter it. Immutable in time.
struct HalfSpace {
  Vector3 origin = Vector3::Zero();   ///< [m], world, a point on the plane
  Vector3 normal = Vector3::UnitY();  ///< unit, points out of the solid
  int body = 0;                       ///< index into the scene's bodies, for pair settings and messages
};

}  // namespace apart
