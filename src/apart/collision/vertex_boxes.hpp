#pragma once
#include <apart/collision/box_packet.hpp>
#include <apart/collision/broad_phase.hpp>

namespace apart {

/// What a search looks at: boxes in single precision around vertices at both ends of their paths, each grown
/// by half the radius and what the range adds. Coordinates are relative to the middle of the scene, which
/// moves with it: single precision then resolves 1e-7 of its size, and a common motion of everything costs
/// nothing. Refers to what it is made of.
class VertexBoxes {
 public:
  /// extent [m]: of each vertex; empty: zero. Throws InvariantError unless everything is finite and as many
  /// as there are vertices.
  VertexBoxes(const Matrix3X& x0, const Matrix3X& x1, const SearchRange& range,
              const std::vector<double>& extent);
  bool is_moving() const { return moving_; }
  FloatBox start(Index v) const { return box(*x0_, origin_[0], v); }
  FloatBox end(Index v) const { return box(*x1_, origin_[1], v); }
  /// The box around what is within `half` of a place, grown by `grown` as boxes of vertices are: [m], in
  /// world coordinates at the start or at the end.
  FloatBox around(const Vector3& centre, const Vector3& half, double grown, bool at_end) const;
  const Matrix3X& x0() const { return *x0_; }
  const Matrix3X& x1() const { return *x1_; }
  /// [m]: by how much the box of a vertex is larger than half the radius demands.
  double growth(Index v) const;

 private:
  FloatBox box(const Matrix3X& x, const Vector3& origin, Index v) const;

  const Matrix3X *x0_, *x1_;
  std::span<const double> extent_, around_;
  bool moving_;
  double unit_, half_;  ///< 1/m; in that unit
  std::array<Vector3, 2> origin_;
};

/// Single-precision numbers certainly below and above v, which is far from overflow.
inline float float_below(double v) {
  const float f = float(v);
  return f - ((f < 0 ? -f : f) * 1.2e-7f + 1e-37f);
}
inline float float_above(double v) {
  return -float_below(-v);
}

inline double VertexBoxes::growth(Index v) const {
  return (extent_.empty() ? 0 : extent_[std::size_t(v)]) + (around_.empty() ? 0 : around_[std::size_t(v)]);
}

inline FloatBox VertexBoxes::box(const Matrix3X& x, const Vector3& origin, Index v) const {
  FloatBox box;
  double around = half_;
  if (!extent_.empty()) around += unit_ * extent_[std::size_t(v)] * (1 + 1e-15);
  if (!around_.empty()) around += unit_ * around_[std::size_t(v)] * (1 + 1e-15);
  for (int k = 0; k < 3; ++k) {
    box.lower[std::size_t(k)] = float_below(unit_ * x(k, v) - origin[k] - around);
    box.upper[std::size_t(k)] = float_above(unit_ * x(k, v) - origin[k] + around);
  }
  box.lower[3] = box.upper[3] = 0;
  return box;
}

}  // namespace apart
