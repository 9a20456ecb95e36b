#pragma once
#include <apart/core/types.hpp>

namespace apart {

/// The solid half {x : normal·(x − origin) < 0}; nothing may enter it. It may be carried by a point that
/// moves, but cannot rotate.
struct HalfSpace {
  Vector3 origin = Vector3::Zero();   ///< [m], world, a point on the plane; where it starts, if it is carried
  Vector3 normal = Vector3::UnitY();  ///< unit, points out of the solid
  int body = 0;                       ///< index into the scene's bodies, for pair settings and messages
  Index carrier = -1;  ///< vertex (of a surface) or point (of a frame) that is the origin as time goes on;
                       ///< −1: it stays

  /// The origin when all points are at x [m].
  Vector3 origin_at(const Matrix3X& x) const { return carrier < 0 ? origin : Vector3(x.col(carrier)); }
  /// Signed distance of the plane to point v [m].
  double distance(const Matrix3X& x, Index v) const { return normal.dot(x.col(v) - origin_at(x)); }
};

}  // namespace apart
