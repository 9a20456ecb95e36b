#pragma once
#include <apart/collision/moving_pair.hpp>
#include <apart/geometry/half_space.hpp>

namespace apart {

/// How a vertex on a straight path comes closer to a half-space: it is free while t · closing < gap. Rounded
/// so that the time is never too late.
struct PlaneApproach {
  double gap = 0;      ///< [m], distance at the start minus ξ; not more than the true one
  double closing = 0;  ///< [m], how much of it the whole path takes; not less than the true one
};

inline PlaneApproach plane_approach(const HalfSpace& plane, double thickness, const Matrix3X& x,
                                    const Matrix3X& p, Index v) {
  const Vector3 carried = plane.carrier < 0 ? Vector3::Zero() : Vector3(p.col(plane.carrier));
  const Vector3 approach = p.col(v) - carried;
  const double size = x.col(v).lpNorm<1>() + plane.origin_at(x).lpNorm<1>();
  const double blur = sum_rounding * (p.col(v).lpNorm<1>() + carried.lpNorm<1>());
  return {plane.distance(x, v) - thickness - sum_rounding * size, blur - plane.normal.dot(approach)};
}

}  // namespace apart
