#pragma once
#include <apart/core/types.hpp>

#include <limits>

namespace apart {

/// An axis-aligned box [m]; empty until something is included.
struct Aabb {
  Vector3 lower = Vector3::Constant(std::numeric_limits<double>::infinity());
  Vector3 upper = Vector3::Constant(-std::numeric_limits<double>::infinity());

  void include(const Vector3& point) {
    lower = lower.cwiseMin(point);
    upper = upper.cwiseMax(point);
  }
  void include(const Aabb& box) {
    lower = lower.cwiseMin(box.lower);
    upper = upper.cwiseMax(box.upper);
  }
  bool empty() const { return !(lower.array() <= upper.array()).all(); }
  Vector3 centre() const { return lower + 0.5 * (upper - lower); }
  double diagonal() const { return empty() ? 0 : (upper - lower).norm(); }
  /// Whether the two come within `margin` of each other along every axis.
  bool near(const Aabb& box, double margin = 0) const {
    return ((lower - box.upper).array() <= margin).all() && ((box.lower - upper).array() <= margin).all();
  }
};

/// The box of all columns of x.
inline Aabb bounding_box(const Matrix3X& x) {
  Aabb box;
  for (Index i = 0; i < x.cols(); ++i) box.include(Vector3(x.col(i)));
  return box;
}

}  // namespace apart
