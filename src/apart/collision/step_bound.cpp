#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/shared_minimum.hpp>
#include <apart/collision/step_bound.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/aabb.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

// Bounds the rounding of all sums below, of x + t p to doubles included, relative to the sum of the
// coordinates' sizes.
constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();

}  // namespace

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
      if (const auto t = time_of_impact(query, until)) earliest.lower_to(*t);
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

}  // namespace apart
