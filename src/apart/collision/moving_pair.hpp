#pragma once
// Two primitives whose vertices move along straight lines, and directions that separate them.
#include <apart/collision/ccd.hpp>

#include <Eigen/Geometry>
#include <array>
#include <bit>
#include <limits>

namespace apart {

/// Bounds the rounding of distances along a direction and of their change, of x + t p to doubles included,
/// relative to the sum of the coordinates' sizes.
inline constexpr double sum_rounding = 8 * std::numeric_limits<double>::epsilon();

/// A direction that separates two primitives: a unit vector, and the distances along it of every vertex of
/// the first primitive from every vertex of the second. The smallest is a lower bound of the distance of the
/// primitives for any direction, and equal to it for the direction of closest points.
struct Separation {
  Vector3 direction = Vector3::Zero();
  std::array<double, 4> apart = {};                         ///< [m], (a, b) in lexicographic order
  double least = -std::numeric_limits<double>::infinity();  ///< [m]
};

template <PairKind kind>
Separation along(const Vector3& direction, const StencilPoints& x) {
  Separation s{.direction = direction, .least = std::numeric_limits<double>::infinity()};
  constexpr int n = point_count(kind), first = first_count(kind);
  int pair = 0;
  for (int a = 0; a < first; ++a)
    for (int b = first; b < n; ++b) {
      const double d = direction.dot(x[a] - x[b]);
      s.apart[pair++] = d;
      s.least = d >= s.least ? s.least : d;
    }
  return s;
}

/// Unit normal of two directions, to rounding even if they are nearly parallel; zero if they are or one of
/// them is.
inline Vector3 normal_of(const Vector3& u, const Vector3& v) {
  const Vector3 first = u.normalized();
  Vector3 second = v - first * first.dot(v);
  second -= first * first.dot(second);
  return first.cross(second).normalized();
}

/// The best separation rounding allows. The vector r of the closest points is a small difference of large
/// numbers, so its direction is blurred by rounding · size / distance; where that hurts, use that r is normal
/// to the features it joins, whose normal is known to rounding alone.
template <PairKind kind>
Separation separate(const StencilPoints& x, double thickness) {
  const ClosestPoints closest = closest_points(kind, x);
  const double distance = closest.r.norm();
  const Vector3 direction = closest.r / distance;
  Separation best = along<kind>(direction, x);
  if (best.least - thickness > 0.999 * (distance - thickness) || !(distance > thickness)) return best;
  if constexpr (kind == PairKind::point_point) return best;

  const auto consider = [&](const Vector3& other) {
    const Separation s = along<kind>(other, x);
    if (s.least > best.least) best = s;
  };
  if (std::popcount(closest.vertices) == 3) {
    // Normal to the edge, which joins the two points of the side that has two.
    const unsigned first = closest.vertices & ((1u << first_count(kind)) - 1);
    const unsigned ends = std::popcount(first) == 2 ? first : closest.vertices & ~first;
    const Vector3 edge = x[std::bit_width(ends) - 1] - x[std::countr_zero(ends)];
    consider((direction - edge * (edge.dot(direction) / edge.squaredNorm())).normalized());
  }
  if (kind != PairKind::point_edge) {
    // Also for fewer points: near the border to the interior of a triangle, or for nearly parallel edges, the
    // blur can tilt the direction into the rest of a primitive.
    const Vector3 normal = kind == PairKind::edge_edge ? normal_of(x[1] - x[0], x[3] - x[2])
                                                       : normal_of(x[2] - x[1], x[3] - x[1]);
    consider(normal.dot(direction) < 0 ? Vector3(-normal) : normal);
  }
  return best;
}

/// A pair in motion.
template <PairKind kind>
class MovingPair {
  static constexpr int n = point_count(kind), first = first_count(kind);

 public:
  explicit MovingPair(const CcdQuery& query) {
    for (int i = 0; i < n; ++i) {
      // Relative to the first point: exact for primitives close together, however far from the origin.
      start_[i] = query.x[i] - query.x[0];
      motion_[i] = query.displacement[i] - query.displacement[0];
      size_x_ += query.x[i].template lpNorm<1>();
      size_p_ += query.displacement[i].template lpNorm<1>();
    }
  }

  Separation separation(double t, double thickness) const {
    StencilPoints now;
    for (int i = 0; i < n; ++i) now[i] = start_[i] + t * motion_[i];
    return separate<kind>(now, thickness);
  }
  /// [m]: distances along a direction are known up to this at time t.
  double blur(double t) const { return sum_rounding * (size_x_ + t * size_p_); }

  struct FreeTime {
    double time = std::numeric_limits<double>::infinity();  ///< from now on
    double here = std::numeric_limits<double>::infinity();  ///< [m] distance now of the vertices that end it
  };
  /// How long all vertices stay more than `distance` apart along the direction, which the primitives then do
  /// too. Along a fixed direction distances are linear in time. It is equation (10) of C-IPC with the
  /// vertices' approach along the direction in place of norms: sliding and parting pairs are free at once,
  /// and whatever the closest points really are, the bound holds.
  FreeTime free_time(const Separation& s, double distance) const {
    FreeTime free;
    int pair = 0;
    for (int a = 0; a < first; ++a)
      for (int b = first; b < n; ++b) {
        const double here = s.apart[pair++];
        const double closing = sum_rounding * size_p_ - s.direction.dot(motion_[a] - motion_[b]);
        const double until = (here - distance) / closing;
        if (closing > 0 && !(until >= free.time)) free = {until, here};
      }
    free.time *= 1 - 1e-12;
    return free;
  }

 private:
  StencilPoints start_, motion_;
  double size_x_ = 0, size_p_ = 0;  ///< Σ |coordinates|, Σ |displacements|
};

}  // namespace apart
