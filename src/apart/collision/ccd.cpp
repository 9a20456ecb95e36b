#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/ccd.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>

#include <algorithm>
#include <atomic>
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

/// The vector from the second primitive to the first at their closest points, and its direction.
struct Separation {
  double distance;    ///< [m]
  Vector3 direction;  ///< unit
};
Separation separation_of(PairKind kind, const StencilPoints& x) {
  const int n = point_count(kind);
  const ClosestFeature feature = closest_feature(kind, x);
  Vector3 r = separation(feature, n, x);
  const double distance = r.norm();
  if (feature.weights.head(first_count(kind)).sum() < 0) r = -r;
  // r is a small difference of large numbers, so its direction is blurred by (size/distance) roundings. It is
  // normal to the features it joins, and their normal is known much better.
  Eigen::Matrix<double, 3, 2> along = Eigen::Matrix<double, 3, 2>::Zero();  // ∂r/∂λ
  for (int k = 0; k < feature.free; ++k)
    for (int i = 1; i < n; ++i) along.col(k) += feature.slope(i, k) * (x[i] - x[0]);
  if (feature.free == 1) {
    r -= along.col(0) * (along.col(0).dot(r) / along.col(0).squaredNorm());
  } else if (feature.free == 2) {
    const Vector3 normal = along.col(0).cross(along.col(1));
    r = normal.dot(r) < 0 ? Vector3(-normal) : normal;
  }
  return {distance, r.normalized()};
}

}  // namespace

std::optional<double> additive_ccd(const CcdQuery& query, const CcdOptions& options) {
  const int n = point_count(query.kind), first = first_count(query.kind);
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

  // Coordinates relative to the first point: exact for primitives close together, however far from the
  // origin.
  StencilPoints start, motion, now;
  for (int i = 0; i < n; ++i) {
    start[i] = query.x[i] - query.x[0];
    motion[i] = query.displacement[i] - query.displacement[0];
  }
  // l_p of seed 000, algorithm 1: how fast the primitives can close in, in the frame that moves with their
  // mean.
  Vector3 mean = Vector3::Zero();
  for (int i = 0; i < n; ++i) mean += motion[i] / n;
  double speed[2] = {0, 0};
  for (int i = 0; i < n; ++i) speed[i >= first] = std::max(speed[i >= first], (motion[i] - mean).norm());
  const double approach = speed[0] + speed[1] + rounding * size_p;

  double t = 0, target = 0;
  for (int iteration = 0; iteration < options.max_iterations; ++iteration) {
    for (int i = 0; i < n; ++i) now[i] = start[i] + t * motion[i];
    // For any unit vector the distance is at least the minimum, over vertices a of the first and b of the
    // second primitive, of direction·(a − b), whatever the closest points really are. For a fixed direction
    // this is a minimum of linear functions of time, which tells until when it stays above the target. It is
    // equation (10) of seed 000 with the vertices' approach along the direction in place of norms: sliding
    // and parting pairs are free at once. Where rounding blurs the direction more than the gap is wide,
    // equation (10) itself still helps: it needs the distance alone. Both are lower bounds: the better one is
    // taken.
    const auto [distance, direction] = separation_of(query.kind, now);
    const double blur = query.separation + rounding * (size_x + t * size_p);
    double gaps[4], gap = infinity;
    int pairs = 0;
    for (int a = 0; a < first; ++a)
      for (int b = first; b < n; ++b) {
        gaps[pairs] = direction.dot(now[a] - now[b]) - blur;
        gap = gaps[pairs] >= gap ? gap : gaps[pairs];
        ++pairs;
      }
    const double distance_gap = distance - blur;
    const double best_gap = distance_gap > gap ? distance_gap : gap;
    if (iteration == 0) {
      if (!(best_gap > 0)) return 0;
      target = options.gap_fraction * std::min(best_gap, query.dhat);
    }
    double free_time = infinity;
    bool at_target = false;  // whether the pair of vertices that ends the step is nearly at the target
    pairs = 0;
    for (int a = 0; a < first; ++a)
      for (int b = first; b < n; ++b) {
        const double closing = rounding * size_p - direction.dot(motion[a] - motion[b]);
        const double until = (gaps[pairs] - target) / closing;
        if (closing > 0 && until < free_time) {
          free_time = until;
          at_target = gaps[pairs] < 1.1 * target;
        }
        ++pairs;
      }
    const double by_distance = (distance_gap - target) / approach;
    if (by_distance > free_time || !(gap > 0)) {
      free_time = by_distance;
      at_target = distance_gap < 1.1 * target;
    }
    const double reached = t + free_time * (1 - 1e-12);
    if (reached >= options.upper_time) return std::nullopt;
    if (!(reached > t * (1 + 1e-4)) || !(best_gap > 0)) return t;
    t = reached;
    if (at_target) return t;
  }
  return t;
}

double collision_free_step(const CollisionSurface& surface, const Candidates& candidates, const Matrix3X& x,
                           const Matrix3X& p, const CcdOptions& options) {
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
  CcdOptions until = options;
  until.upper_time = collision_free_step(surface, cache.at(x), x, p, options);
  // Beyond the margin of the pairs around x there may be others, but only those met before the time just
  // found matter.
  if (until.upper_time <= cache.covered_share(x, p)) return until.upper_time;
  constexpr std::size_t most = 20'000'000;  // 400 MB
  for (;; until.upper_time /= 4) {
    if (const Candidates* pairs = cache.along_at_most(most, x, until.upper_time * p))
      return collision_free_step(surface, *pairs, x, p, until);
    if (until.upper_time <= cache.covered_share(x, p)) return until.upper_time;
  }
}

namespace {

/// Until when the volume of one tetrahedron stays above (1 − shrink) of its start; looks no farther than
/// `until()`.
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
  // f = V − (1 − shrink) V(0) in Bernstein form on [t, 1]. The graph lies above the lower hull of the
  // coefficients, so f > 0 until the hull meets zero: advance there, split, repeat. Quadratic for simple
  // roots, never past one.
  double t = 0;
  double b[4] = {shrink * v0, shrink * v0 + v1 / 3, shrink * v0 + (2 * v1 + v2) / 3,
                 shrink * v0 + v1 + v2 + v3};
  for (int iteration = 0; iteration < 60; ++iteration) {
    double step = infinity;
    for (int i = 1; i < 4; ++i)
      if (b[i] <= 0) step = std::min(step, i / 3.0 * b[0] / (b[0] - b[i]));
    if (!(step <= 1)) return infinity;
    const double next = t + step * (1 - t) * (1 - 1e-12);
    if (!(next > t * (1 + 1e-6)) || next >= until.get()) return next > t ? next : t;
    const double w = (next - t) / (1 - t);  // split at w, keep the part after it
    for (int round = 3; round > 0; --round)
      for (int i = 0; i < round; ++i) b[i] = (1 - w) * b[i] + w * b[i + 1];
    t = next;
    if (!(b[0] > 0)) return t;
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
