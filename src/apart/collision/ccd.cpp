#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/ccd.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/aabb.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

namespace apart {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Bounds the rounding of all sums below, of x + t p to doubles included, relative to the sum of the
// coordinates' sizes.
constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();

/// A minimum shared by threads. Terms may be skipped or cut short once they are known to exceed the value
/// read here: the final value is then still the minimum over all complete terms, whatever the order.
class SharedMinimum {
 public:
  explicit SharedMinimum(double start) : value_(start) {}
  double get() const { return value_.load(std::memory_order_relaxed); }
  void lower_to(double v) {
    double seen = get();
    while (v < seen && !value_.compare_exchange_weak(seen, v, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<double> value_;
};

/// Σ |coordinates|; NaN if one is.
double total_size(const StencilPoints& x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i].lpNorm<1>();
  return sum;
}

/// A direction along which the two primitives are apart: a unit vector, and the distances along it of every
/// vertex of the first primitive from every vertex of the second. The smallest is a lower bound of the
/// distance of the primitives for any direction, and equal to it for the direction of closest points.
struct Separation {
  Vector3 direction = Vector3::Zero();
  std::array<double, 4> apart = {};  ///< [m], (a, b) in lexicographic order
  double least = -infinity;          ///< [m]
};

template <PairKind kind>
Separation along(const Vector3& direction, const StencilPoints& x) {
  Separation s{.direction = direction, .least = infinity};
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
Vector3 normal_of(const Vector3& u, const Vector3& v) {
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
    // Also for fewer points: near the border to the interior of a triangle, or for edges all but parallel,
    // the blur can tilt the direction into the rest of a primitive.
    const Vector3 normal = kind == PairKind::edge_edge ? normal_of(x[1] - x[0], x[3] - x[2])
                                                       : normal_of(x[2] - x[1], x[3] - x[1]);
    consider(normal.dot(direction) < 0 ? Vector3(-normal) : normal);
  }
  return best;
}

/// The loop of additive_ccd, for sizes that neither overflow nor underflow. size_x, size_p: of the
/// coordinates and of the displacements.
template <PairKind kind>
std::optional<double> advance(const CcdQuery& query, const CcdOptions& options, double size_x,
                              double size_p) {
  constexpr int n = point_count(kind), first = first_count(kind);
  // Coordinates relative to the first point: exact for primitives close together, however far from the
  // origin.
  StencilPoints start, motion, now;
  for (int i = 0; i < n; ++i) {
    start[i] = query.x[i] - query.x[0];
    motion[i] = query.displacement[i] - query.displacement[0];
  }
  double t = 0, target = 0;
  for (int iteration = 0; iteration < options.max_iterations; ++iteration) {
    for (int i = 0; i < n; ++i) now[i] = start[i] + t * motion[i];
    // Along a fixed direction the primitives are apart by a minimum of linear functions of time, which tells
    // until when they stay so. It is equation (10) of C-IPC with the vertices' approach along the
    // direction in place of norms: sliding and parting pairs are free at once, and whatever the closest
    // points really are, the bound holds.
    const Separation s = separate<kind>(now, query.separation);
    const double blur = query.separation + rounding * (size_x + t * size_p);
    const double gap = s.least - blur;
    if (iteration == 0) {
      if (!(gap > 0)) return 0;
      target = options.gap_fraction * std::min(gap, query.dhat);
    }
    if (!(gap > 0.5 * target)) return t;  // rounding has spoilt the direction: it proves nothing further
    double free_time = infinity;
    bool at_target = false;  // whether the pair of vertices that ends the step is nearly at the target
    int pair = 0;
    for (int a = 0; a < first; ++a)
      for (int b = first; b < n; ++b) {
        const double here = s.apart[pair++] - blur;
        const double closing = rounding * size_p - s.direction.dot(motion[a] - motion[b]);
        const double until = (here - target) / closing;
        if (closing > 0 && until < free_time) {
          free_time = until;
          at_target = here < 1.1 * target;
        }
      }
    const double reached = t + free_time * (1 - 1e-12);
    if (reached >= options.upper_time) return std::nullopt;
    // Done when the gap is used up, or when steps are no longer worth their evaluation; the latter within d̂
    // only, so that no pair that stays beyond bounds the step. What is returned is always the last time
    // compared with upper_time, so that a smaller upper_time hides an answer but never changes it.
    const bool small = gap <= query.dhat && !(reached > t * (1 + 1e-4));
    t = std::max(t, reached);
    if (at_target || small) return t;
  }
  return t;
}

}  // namespace

std::optional<double> additive_ccd(const CcdQuery& query, const CcdOptions& options) {
  const int n = point_count(query.kind);
  const double size_x = total_size(query.x, n), size_p = total_size(query.displacement, n),
               size = size_x + size_p;
  if (!(size < infinity) || std::isnan(query.separation)) return 0;
  if (!(size > 1e-60 && size < 1e60)) {  // squares would underflow or overflow: change the unit of length
    if (size == 0) return 0;             // all points coincide
    CcdQuery scaled = query;
    const int exponent = -std::ilogb(size);
    const auto scale = [&](double v) { return std::scalbn(v, exponent); };
    for (int i = 0; i < n; ++i) {
      scaled.x[i] = query.x[i].unaryExpr(scale);
      scaled.displacement[i] = query.displacement[i].unaryExpr(scale);
    }
    scaled.separation = scale(query.separation);
    scaled.dhat = scale(query.dhat);
    return additive_ccd(scaled, options);
  }
  switch (query.kind) {
    case PairKind::point_point:
      return advance<PairKind::point_point>(query, options, size_x, size_p);
    case PairKind::point_edge:
      return advance<PairKind::point_edge>(query, options, size_x, size_p);
    case PairKind::point_triangle:
      return advance<PairKind::point_triangle>(query, options, size_x, size_p);
    case PairKind::edge_edge:
      break;
  }
  return advance<PairKind::edge_edge>(query, options, size_x, size_p);
}

double collision_free_step(const CollisionSurface& surface, const Candidates& candidates, const Matrix3X& x,
                           const Matrix3X& p, const CcdOptions& options) {
  if (!x.allFinite() || !p.allFinite()) return 0;
  SharedMinimum earliest(options.upper_time);
  parallel_chunks(Index(candidates.size()), 512, [&](Index begin, Index end) {
    for (Index c = begin; c < end; ++c) {
      const Stencil& stencil = candidates[c];
      CcdQuery query;
      query.kind = stencil.kind;
      query.displacement = stencil.gather(p);
      bool moves = false;
      for (int i = 0; i < stencil.size(); ++i) moves |= (query.displacement[i].array() != 0).any();
      if (!moves) continue;
      query.x = stencil.gather(x);
      const PairSettings& settings =
          surface.settings(stencil.vertices[0], stencil.vertices[first_count(stencil.kind)]);
      query.separation = settings.thickness;
      query.dhat = settings.dhat;
      CcdOptions until = options;
      until.upper_time = earliest.get();
      if (const auto t = additive_ccd(query, until)) earliest.lower_to(*t);
    }
  });
  parallel_for(surface.vertex_count(), [&](Index v) {
    for (const HalfSpace& plane : surface.half_spaces) {
      const PairSettings& settings = surface.pairs(surface.vertex_body[v], plane.body);
      if (!settings.enabled || (p.col(v).array() == 0).all()) continue;
      const double size = x.col(v).lpNorm<1>() + plane.origin.lpNorm<1>();
      const double gap = plane.normal.dot(x.col(v) - plane.origin) - settings.thickness - rounding * size;
      const double closing = rounding * p.col(v).lpNorm<1>() - plane.normal.dot(p.col(v));
      if (!(gap > 0) || std::isnan(closing)) {
        earliest.lower_to(0);
      } else if (closing > 0) {
        earliest.lower_to((gap - 0.1 * std::min(gap, settings.dhat)) / closing * (1 - 1e-12));
      }
    }
  });
  return earliest.get();
}

double collision_free_step(const CollisionSurface& surface, CandidateCache& cache, const Matrix3X& x,
                           const Matrix3X& p, const CcdOptions& options) {
  const Candidates& around = cache.at(x);
  // Paths that meet many times more pairs than are near, and more than 400 MB of them, are not worth their
  // list.
  const std::size_t most = std::max<std::size_t>(20'000'000, 4 * around.size());
  CcdOptions until = options;
  until.upper_time = collision_free_step(surface, around, x, p, options);
  // Beyond the margin of the pairs around x there may be others, but only those met before the time just
  // found matter.
  if (until.upper_time <= cache.covered_share(x, p)) return until.upper_time;
  const Candidates* pairs = cache.along_at_most(most, x, until.upper_time * p);
  if (!pairs) {
    // Not farther than across everything there is, then, and on from there.
    const double longest = std::sqrt(p.colwise().squaredNorm().maxCoeff());
    until.upper_time = std::min(until.upper_time, bounding_box(x).diagonal() / longest);
  }
  for (; !pairs && until.upper_time > cache.covered_share(x, p); until.upper_time /= 4)
    pairs = cache.along_at_most(most, x, until.upper_time / 4 * p);
  return pairs ? collision_free_step(surface, *pairs, x, p, until) : until.upper_time;
}

namespace {

/// Until when the volume of one tetrahedron stays above (1 − shrink) of its start; +infinity if that is later
/// than 1 or than `until`.
double time_of_inversion(const Matrix3X& x, const Matrix3X& p, const Eigen::Vector4i& tet, double shrink,
                         const SharedMinimum& until) {
  Matrix3 e, d;  // edges and their change
  for (int k = 0; k < 3; ++k) {
    e.col(k) = x.col(tet[k + 1]) - x.col(tet[0]);
    d.col(k) = p.col(tet[k + 1]) - p.col(tet[0]);
  }
  const auto det = [](const auto& a, const auto& b, const auto& c) { return a.cross(b).dot(c); };
  const Vector3 e0 = e.col(0), e1 = e.col(1), e2 = e.col(2), d0 = d.col(0), d1 = d.col(1), d2 = d.col(2);
  // V(t) = v0 + v1 t + v2 t² + v3 t³ = det(e + t d)
  const double v0 = det(e0, e1, e2), v1 = det(d0, e1, e2) + det(e0, d1, e2) + det(e0, e1, d2);
  const double v2 = det(e0, d1, d2) + det(d0, e1, d2) + det(d0, d1, e2), v3 = det(d0, d1, d2);
  if (!(v0 > 0) || !std::isfinite(v1 + v2 + v3)) return 0;
  // f(t) = V(t) − (1 − shrink) V(0). On [t, t + h] it is positive if its four Bernstein coefficients are.
  // Advance by such intervals, doubling h after a success and halving it after a failure, until h is
  // negligible.
  double t = 0, h = 1;
  for (int iteration = 0; iteration < 2000; ++iteration) {
    const double f0 = shrink * v0 + t * (v1 + t * (v2 + t * v3));
    const double f1 = h * (v1 + t * (2 * v2 + t * 3 * v3)), f2 = h * h * (v2 + 3 * t * v3),
                 f3 = h * h * h * v3;
    const bool positive = f0 > 0 && f0 + f1 / 3 > 0 && f0 + (2 * f1 + f2) / 3 > 0 && f0 + f1 + f2 + f3 > 0;
    if (!positive) {
      h /= 2;
      if (h <= 1e-6 * t || h < 1e-300) return t;
      continue;
    }
    t += h;
    if (t >= 1 || t >= until.get()) return infinity;
    h = std::min(2 * h, 1 - t);
  }
  return t;
}

}  // namespace

double inversion_free_step(const Tetrahedra& tetrahedra, const Matrix3X& x, const Matrix3X& p,
                           double shrink) {
  ensure(shrink > 0 && shrink < 1, "inversion_free_step: 0 < shrink < 1");
  SharedMinimum earliest(1);
  parallel_for(Index(tetrahedra.cols()), [&](Index t) {
    earliest.lower_to(time_of_inversion(x, p, tetrahedra.col(t), shrink, earliest));
  });
  // The cubics above are rounded, and so are the positions the caller will form: look at those.
  double step = earliest.get();
  const auto positive = [&](double alpha) {
    return parallel_min(Index(tetrahedra.cols()), 1.0, [&](Index t) {
             Vector3 v[4];
             for (int k = 0; k < 4; ++k) v[k] = x.col(tetrahedra(k, t)) + alpha * p.col(tetrahedra(k, t));
             return signed_volume6(v[0], v[1], v[2], v[3]) > 0 ? 1.0 : 0.0;
           }) > 0;
  };
  while (step > 0 && !positive(step)) step = step > 1e-300 ? 0.5 * step : 0;
  return step;
}

}  // namespace apart
