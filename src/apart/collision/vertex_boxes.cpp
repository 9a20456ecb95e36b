#include <apart/collision/vertex_boxes.hpp>
#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

VertexBoxes::VertexBoxes(const Matrix3X& x0, const Matrix3X& x1, const SearchRange& range,
                         const std::vector<double>& extent)
    : x0_(&x0),
      x1_(&x1),
      extent_(extent),
      around_(range.around),
      moving_(x0.data() != x1.data() && x0 != x1) {
  double radius = range.radius;
  ensure(around_.empty() || Index(around_.size()) == x0.cols(), "broad phase: as many ranges as vertices");
  ensure(x0.allFinite() && x1.allFinite() && std::isfinite(radius) && radius >= 0,
         "broad phase: positions and radius are finite, the radius not negative");
  Aabb all0 = bounding_box(x0), all1 = moving_ ? bounding_box(x1) : all0;
  // A unit of length, a power of two, in which nothing overflows single precision. Nearly always the metre.
  double widest = 0, farthest = 0;
  for (const double e : extent_) widest = std::max(widest, e);
  for (const double a : around_) farthest = std::max(farthest, a);
  double largest = radius + 2 * (widest + farthest);
  for (const Aabb* box : {&all0, &all1})
    if (!box->empty())
      largest = std::max({largest, box->lower.cwiseAbs().maxCoeff(), box->upper.cwiseAbs().maxCoeff()});
  unit_ = largest > 0x1p100 ? std::scalbn(1.0, 99 - std::ilogb(largest)) : 1;
  for (Aabb* box : {&all0, &all1}) *box = {unit_ * box->lower, unit_ * box->upper};
  radius *= unit_;
  // Twice the rounding of the differences in box(), which outward rounding of a result near 0 would not
  // cover.
  half_ = radius / 2 +
          4 * std::numeric_limits<double>::epsilon() * (radius + std::max(all0.diagonal(), all1.diagonal()));
  origin_ = {all0.empty() ? Vector3::Zero() : all0.centre(), all1.empty() ? Vector3::Zero() : all1.centre()};
}

FloatBox VertexBoxes::around(const Vector3& centre, const Vector3& half, double grown, bool at_end) const {
  const Vector3& origin = origin_[at_end];
  FloatBox box;
  for (int k = 0; k < 3; ++k) {
    const double more = half_ + unit_ * (half[k] + grown) * (1 + 1e-14);
    box.lower[std::size_t(k)] = float_below(unit_ * centre[k] - origin[k] - more);
    box.upper[std::size_t(k)] = float_above(unit_ * centre[k] - origin[k] + more);
  }
  box.lower[3] = box.upper[3] = 0;
  return box;
}

}  // namespace apart
