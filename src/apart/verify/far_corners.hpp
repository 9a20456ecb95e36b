#pragma once
#include <apart/core/types.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace apart::verify {

/// Four of the points, each as far as possible from those before it. The same ones again where there are
/// fewer, or where all lie in a plane or on a line.
inline std::array<Index, 4> far_corners(const Matrix3X& x, const std::vector<Index>& points) {
  const auto farthest = [&](const auto& measure) {
    return *std::max_element(points.begin(), points.end(),
                             [&](Index i, Index j) { return measure(x.col(i)) < measure(x.col(j)); });
  };
  std::array<Index, 4> c;
  const Vector3 start = x.col(points[0]);
  c[0] = farthest([&](const Vector3& p) { return (p - start).squaredNorm(); });
  const Vector3 o = x.col(c[0]);
  c[1] = farthest([&](const Vector3& p) { return (p - o).squaredNorm(); });
  const Vector3 u = x.col(c[1]) - o;
  c[2] = farthest([&](const Vector3& p) { return (p - o).cross(u).squaredNorm(); });
  const Vector3 n = u.cross(Vector3(x.col(c[2]) - o));
  c[3] = farthest([&](const Vector3& p) { return std::abs((p - o).dot(n)); });
  return c;
}

}  // namespace apart::verify
