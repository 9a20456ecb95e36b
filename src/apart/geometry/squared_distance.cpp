#include <apart/geometry/squared_distance.hpp>

#include <Eigen/Geometry>
#include <algorithm>

namespace apart {

namespace {

// Below this squared sine two edges count as parallel (thesis A.7.2: sine 1e-10).
constexpr double parallel_sine_squared = 1e-20;

ClosestFeature two_points(int a, int b) {
  ClosestFeature c;
  c.weights[a] = 1;
  c.weights[b] = -1;
  return c;
}

/// Point p (with sign +1) against the edge e0 e1; reduces to two points outside the edge's range.
ClosestFeature point_edge(const StencilPoints& x, int p, int e0, int e1) {
  const Vector3 d = x[e1] - x[e0];
  const double along = (x[p] - x[e0]).dot(d), length2 = d.squaredNorm();
  if (!(along > 0) || length2 == 0) return two_points(p, e0);
  if (along >= length2) return two_points(p, e1);
  const double t = along / length2;
  ClosestFeature c;
  c.free = 1;
  c.weights[p] = 1;
  c.weights[e0] = -(1 - t);
  c.weights[e1] = -t;
  c.slope(e0, 0) = 1;
  c.slope(e1, 0) = -1;
  return c;
}

/// The nearer of two features of the same stencil; the first wins a tie, so the choice is deterministic.
void keep_nearer(ClosestFeature& best, double& best_f, const ClosestFeature& other, const StencilPoints& x) {
  const double f = separation(other, 4, x).squaredNorm();
  if (f < best_f) {
    best = other;
    best_f = f;
  }
}

ClosestFeature point_triangle(const StencilPoints& x) {
  const Vector3 ab = x[2] - x[1], ac = x[3] - x[1], ap = x[0] - x[1];
  const Vector3 n = ab.cross(ac);
  const double n2 = n.squaredNorm();
  if (n2 > 0) {
    // The foot of the perpendicular: its height over the edge ab by areas, then its place along ab by
    // projection. Both by areas would leave an error of rounding / (sine of the angle at a) in r; this way it
    // is rounding alone, because an error in b2 moves the foot only by the small height of a thin triangle.
    const double b2 = ab.cross(ap).dot(n) / n2, b1 = (ap - b2 * ac).dot(ab) / ab.squaredNorm();
    if (b1 > 0 && b2 > 0 && b1 + b2 < 1) {
      ClosestFeature c;
      c.free = 2;
      c.weights << 1, -(1 - b1 - b2), -b1, -b2;
      c.slope.col(0) << 0, 1, -1, 0;
      c.slope.col(1) << 0, 1, 0, -1;
      return c;
    }
  }
  ClosestFeature best = point_edge(x, 0, 1, 2);
  double f = separation(best, 4, x).squaredNorm();
  keep_nearer(best, f, point_edge(x, 0, 2, 3), x);
  keep_nearer(best, f, point_edge(x, 0, 3, 1), x);
  return best;
}

ClosestFeature edge_edge(const StencilPoints& x) {
  const Vector3 u = x[1] - x[0], v = x[3] - x[2], w = x[0] - x[2];
  const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v);
  // ‖u×v‖² directly: uu·vv − uv² would cancel for nearly parallel edges.
  const Vector3 n = u.cross(v);
  const double det = n.squaredNorm();
  if (det > parallel_sine_squared * uu * vv) {
    // t from cross products, (u×v)·(u×w) = uu·vw − uv·uw without its cancellation, then s by projection on u:
    // what error is left lies along the common direction of nearly parallel edges, where it hardly changes r.
    const double t = n.dot(u.cross(w)) / det, s = (t * uv - u.dot(w)) / uu;
    if (s > 0 && s < 1 && t > 0 && t < 1) {
      ClosestFeature c;
      c.free = 2;
      c.weights << 1 - s, s, -(1 - t), -t;
      c.slope.col(0) << -1, 1, 0, 0;
      c.slope.col(1) << 0, 0, 1, -1;
      return c;
    }
  }
  // The minimum lies on the boundary of the parameter square: an end of one edge against the other edge. The
  // sign of r does not matter to f, so either primitive may come first.
  ClosestFeature best = point_edge(x, 0, 2, 3);
  double f = separation(best, 4, x).squaredNorm();
  keep_nearer(best, f, point_edge(x, 1, 2, 3), x);
  keep_nearer(best, f, point_edge(x, 2, 0, 1), x);
  keep_nearer(best, f, point_edge(x, 3, 0, 1), x);
  return best;
}

}  // namespace

ClosestFeature closest_feature(PairKind kind, const StencilPoints& x) {
  switch (kind) {
    case PairKind::point_point:
      return two_points(0, 1);
    case PairKind::point_edge:
      return point_edge(x, 0, 1, 2);
    case PairKind::point_triangle:
      return point_triangle(x);
    case PairKind::edge_edge:
      break;
  }
  return edge_edge(x);
}

Vector3 separation(const ClosestFeature& feature, int n, const StencilPoints& x) {
  // Differences to one point first: weights sum to zero, and this loses no digits far from the origin.
  Vector3 r = Vector3::Zero();
  for (int i = 1; i < n; ++i) r += feature.weights[i] * (x[i] - x[0]);
  return r;
}

double squared_distance(PairKind kind, const StencilPoints& x) {
  return separation(closest_feature(kind, x), point_count(kind), x).squaredNorm();
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
