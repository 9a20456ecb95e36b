#pragma once
// Distances in quadruple precision by trying every feature: slow, simple, sharing nothing with the library.
// Extended precision would not do: with a triangle of height 1e-10 its normal has but ten good digits.
#include <apart/geometry/squared_distance.hpp>

#include <algorithm>

namespace apart::test {

__extension__ typedef __float128 Quad;
using QuadVector = Eigen::Matrix<Quad, 3, 1>;
using QuadPoints = std::array<QuadVector, 4>;

inline QuadPoints extended(const StencilPoints& x, int n) {
  QuadPoints y;
  for (int i = 0; i < n; ++i) y[i] = x[i].cast<Quad>();
  return y;
}

/// x + t p, in quadruple precision.
inline QuadPoints moved(const StencilPoints& x, const StencilPoints& p, double t, int n) {
  QuadPoints y;
  for (int i = 0; i < n; ++i) y[i] = x[i].cast<Quad>() + Quad(t) * p[i].cast<Quad>();
  return y;
}

inline Quad reference_point_edge(const QuadVector& p, const QuadVector& a, const QuadVector& b) {
  const QuadVector d = b - a;
  const Quad length2 = d.squaredNorm();
  const Quad t = length2 > 0 ? std::clamp((p - a).dot(d) / length2, Quad(0), Quad(1)) : Quad(0);
  return (p - a - t * d).squaredNorm();
}

/// The minimum over all pairs of features whose foot points lie inside; each is an upper bound, one is
/// attained.
inline Quad reference_squared_distance(PairKind kind, const QuadPoints& x) {
  switch (kind) {
    case PairKind::point_point:
      return (x[0] - x[1]).squaredNorm();
    case PairKind::point_edge:
      return reference_point_edge(x[0], x[1], x[2]);
    case PairKind::point_triangle: {
      Quad best = std::min({reference_point_edge(x[0], x[1], x[2]), reference_point_edge(x[0], x[2], x[3]),
                            reference_point_edge(x[0], x[3], x[1])});
      const QuadVector u = x[2] - x[1], v = x[3] - x[1], n = u.cross(v), w = x[0] - x[1];
      if (n.squaredNorm() > 0) {
        const Quad a = w.cross(v).dot(n), b = u.cross(w).dot(n);
        if (a >= 0 && b >= 0 && a + b <= n.squaredNorm())
          best = std::min(best, w.dot(n) * w.dot(n) / n.squaredNorm());
      }
      return best;
    }
    case PairKind::edge_edge:
      break;
  }
  Quad best = std::min({reference_point_edge(x[0], x[2], x[3]), reference_point_edge(x[1], x[2], x[3]),
                        reference_point_edge(x[2], x[0], x[1]), reference_point_edge(x[3], x[0], x[1])});
  const QuadVector u = x[1] - x[0], v = x[3] - x[2], n = u.cross(v), w = x[2] - x[0];
  const Quad n2 = n.squaredNorm();
  if (n2 > 0) {
    const Quad s = w.cross(v).dot(n) / n2, t = w.cross(u).dot(n) / n2;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) best = std::min(best, w.dot(n) * w.dot(n) / n2);
  }
  return best;
}

inline double reference_distance(PairKind kind, const QuadPoints& x) {
  return double(std::sqrt((long double)(reference_squared_distance(kind, x))));
}
inline double reference_distance(PairKind kind, const StencilPoints& x) {
  return reference_distance(kind, extended(x, point_count(kind)));
}

}  // namespace apart::test
