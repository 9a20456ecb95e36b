#include <apart/geometry/squared_distance.hpp>

#include <Eigen/Geometry>
#include <limits>

namespace apart {

namespace {

// Below this squared sine two edges count as parallel (thesis A.7.2: sine 1e-10).
constexpr double parallel_sine_squared = 1e-20;
// Below this squared sine rounding may misplace the minimum with respect to the bounds of its parameters so
// far that all of them have to be tried.
constexpr double doubtful_sine_squared = 1e-10;

/// A minimum along an edge: where, between 0 and 1, and the points that take part: the first, the second or
/// both.
struct OnEdge {
  double t;
  unsigned ends;
};
OnEdge on_edge(double along, double length2) {
  if (!(along > 0) || length2 == 0) return {0, 1};
  if (along >= length2) return {1, 2};
  return {along / length2, 3};
}

ClosestPoints point_edge(const StencilPoints& x) {
  const Vector3 d = x[2] - x[1], p = x[0] - x[1];
  const OnEdge on = on_edge(p.dot(d), d.squaredNorm());
  return {Vector4(1, on.t - 1, -on.t, 0), p - on.t * d, 1 | on.ends << 1};
}

ClosestPoints point_triangle(const StencilPoints& x) {
  const Vector3 ab = x[2] - x[1], ac = x[3] - x[1], ap = x[0] - x[1];
  const Vector3 n = ab.cross(ac);
  const double n2 = n.squaredNorm(), ab2 = ab.squaredNorm(), ac2 = ac.squaredNorm();
  // Barycentric coordinates of the foot of the perpendicular, times n2: by which edges the point is outside.
  const double at_c = ab.cross(ap).dot(n), at_b = ap.cross(ac).dot(n), at_a = n2 - at_b - at_c;
  const bool doubtful = !(n2 > doubtful_sine_squared * ab2 * ac2);
  if (n2 > 0) {
    // The foot's height over the edge ab by areas, then its place along ab by projection. Both by areas would
    // leave an error of rounding / (sine of the angle at a) in r; this way it is rounding alone, because an
    // error in b2 moves the foot only by the small height of a thin triangle.
    const double b2 = at_c / n2, b1 = (ap - b2 * ac).dot(ab) / ab2;
    if (b1 > 0 && b2 > 0 && b1 + b2 < 1)
      return {Vector4(1, b1 + b2 - 1, -b1, -b2), ap - b1 * ab - b2 * ac, 0b1111};
  }
  // The closest point of a convex polygon lies on an edge that has the given point on its outer side.
  ClosestPoints best{Vector4(1, -1, 0, 0), ap, 0b0011};
  double best_f = std::numeric_limits<double>::infinity();
  const auto consider = [&](int e0, int e1, const Vector3& from, const Vector3& edge, double length2) {
    const OnEdge on = on_edge(from.dot(edge), length2);
    const Vector3 r = from - on.t * edge;
    const double f = r.squaredNorm();
    if (!(f < best_f)) return;
    best_f = f;
    best.weights = Vector4(1, 0, 0, 0);
    best.weights[e0] = on.t - 1;
    best.weights[e1] = -on.t;
    best.r = r;
    best.vertices = 1 | (on.ends & 1) << e0 | (on.ends >> 1) << e1;
  };
  const bool all = doubtful || (at_a > 0 && at_b > 0 && at_c > 0);
  if (all || at_c <= 0) consider(1, 2, ap, ab, ab2);
  if (all || at_b <= 0) consider(1, 3, ap, ac, ac2);
  if (all || at_a <= 0) {
    const Vector3 bc = x[3] - x[2];
    consider(2, 3, x[0] - x[2], bc, bc.squaredNorm());
  }
  return best;
}

ClosestPoints edge_edge(const StencilPoints& x) {
  const Vector3 u = x[1] - x[0], v = x[3] - x[2], w = x[0] - x[2];  // r = w + s u − t v
  const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v), uw = u.dot(w), vw = v.dot(w);
  // ‖u×v‖² directly: uu·vv − uv² would cancel for nearly parallel edges.
  const Vector3 n = u.cross(v);
  const double det = n.squaredNorm();
  bool sides[4] = {true, true, true,
                   true};  // where the minimum may lie if not inside: s = 0, s = 1, t = 0, t = 1
  if (det > parallel_sine_squared * uu * vv) {
    // t from cross products, (u×v)·(u×w) = uu·vw − uv·uw without its cancellation, then s by projection on u:
    // what error is left lies along the common direction of nearly parallel edges, where it hardly changes r.
    const double t = n.dot(u.cross(w)) / det, s = (t * uv - uw) / uu;
    if (s > 0 && s < 1 && t > 0 && t < 1) return {Vector4(1 - s, s, t - 1, -t), w + s * u - t * v, 0b1111};
    // The minimum of a convex function over a square lies on a side that has the free minimum on its outer
    // side.
    if (det > doubtful_sine_squared * uu * vv) {
      sides[0] = s <= 0;
      sides[1] = s >= 1;
      sides[2] = t <= 0;
      sides[3] = t >= 1;
    }
  }
  ClosestPoints best{Vector4(1, 0, -1, 0), w, 0b0101};
  double best_f = std::numeric_limits<double>::infinity();
  const auto consider = [&](double s, unsigned first, double t, unsigned second, const Vector3& r) {
    const double f = r.squaredNorm();
    if (!(f < best_f)) return;
    best_f = f;
    best.weights = Vector4(1 - s, s, t - 1, -t);
    best.r = r;
    best.vertices = first | second << 2;
  };
  for (int end = 0; end < 2; ++end) {
    if (sides[end]) {
      const Vector3 from = end == 0 ? w : Vector3(w + u);
      const OnEdge on = on_edge(end == 0 ? vw : vw + uv, vv);
      consider(end, 1u << end, on.t, on.ends, from - on.t * v);
    }
    if (sides[2 + end]) {
      const Vector3 from = end == 0 ? w : Vector3(w - v);
      const OnEdge on = on_edge(end == 0 ? -uw : uv - uw, uu);
      consider(on.t, on.ends, end, 1u << end, from + on.t * u);
    }
  }
  return best;
}

}  // namespace

ClosestPoints closest_points(PairKind kind, const StencilPoints& x) {
  switch (kind) {
    case PairKind::point_point:
      return {Vector4(1, -1, 0, 0), x[0] - x[1], 0b11};
    case PairKind::point_edge:
      return point_edge(x);
    case PairKind::point_triangle:
      return point_triangle(x);
    case PairKind::edge_edge:
      break;
  }
  return edge_edge(x);
}

ClosestFeature closest_feature(PairKind kind, const StencilPoints& x) {
  const ClosestPoints closest = closest_points(kind, x);
  ClosestFeature feature;
  feature.weights = closest.weights;
  // One parameter for every point that takes part beyond the first of its primitive; it moves weight between
  // the two.
  for (int begin = 0, end = first_count(kind); begin < end; begin = end, end = point_count(kind)) {
    int first = -1;
    for (int i = begin; i < end; ++i) {
      if (!(closest.vertices >> i & 1)) continue;
      if (first < 0) {
        first = i;
      } else {
        const double sign = begin == 0 ? 1 : -1;
        feature.slope(first, feature.free) = -sign;
        feature.slope(i, feature.free) = sign;
        ++feature.free;
      }
    }
  }
  return feature;
}

Vector3 separation(const ClosestFeature& feature, int n, const StencilPoints& x) {
  // Differences to one point first: weights sum to zero, and this loses no digits far from the origin.
  Vector3 r = Vector3::Zero();
  for (int i = 1; i < n; ++i) r += feature.weights[i] * (x[i] - x[0]);
  return r;
}

double squared_distance(PairKind kind, const StencilPoints& x) {
  return closest_points(kind, x).r.squaredNorm();
}

StencilVector squared_distance_gradient(const ClosestFeature& feature, int n, const StencilPoints& x) {
  const Vector3 r = separation(feature, n, x);
  StencilVector g = StencilVector::Zero();
  for (int i = 0; i < n; ++i) g.segment<3>(3 * i) = 2 * feature.weights[i] * r;
  return g;
}

StencilMatrix squared_distance_hessian(const ClosestFeature& feature, int n, const StencilPoints& x) {
  const Vector3 r = separation(feature, n, x);
  StencilMatrix h = StencilMatrix::Zero();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      h.block<3, 3>(3 * i, 3 * j).diagonal().setConstant(2 * feature.weights[i] * feature.weights[j]);
  const int m = feature.free;
  if (m == 0) return h;
  Eigen::Matrix<double, 3, 2> d = Eigen::Matrix<double, 3, 2>::Zero();  // D = ∂r/∂λ
  Eigen::Matrix<double, 12, 2> q = Eigen::Matrix<double, 12, 2>::Zero();
  for (int k = 0; k < m; ++k) {
    for (int i = 1; i < n; ++i) d.col(k) += feature.slope(i, k) * (x[i] - x[0]);
    for (int i = 0; i < n; ++i)
      q.block<3, 1>(3 * i, k) = 2 * (feature.slope(i, k) * r + feature.weights[i] * d.col(k));
  }
  if (m == 1) {
    h -= q.col(0) * (q.col(0) / (2 * d.col(0).squaredNorm())).transpose();
  } else {
    const double a = d.col(0).squaredNorm(), b = d.col(0).dot(d.col(1)), c = d.col(1).squaredNorm();
    const double det = d.col(0).cross(d.col(1)).squaredNorm();
    Eigen::Matrix2d inverse;
    inverse << c, -b, -b, a;
    h -= q * (inverse / (2 * det)) * q.transpose();
  }
  return h;
}

}  // namespace apart
