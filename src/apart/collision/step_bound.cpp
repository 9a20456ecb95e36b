#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/separation.hpp>
#include <apart/collision/shared_minimum.hpp>
#include <apart/collision/step_bound.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

/// How much farther apart than the paths the chords of two points must be [m]: room for either path, and for
/// the chord of its first part.
double deviation_room(const Path& path, Index vertex, const HalfSpace& plane) {
  if (path.deviation.size() == 0) return 0;
  return 2 * (path.deviation[vertex] + (plane.carrier < 0 ? 0 : path.deviation[plane.carrier]));
}

double deviation_room(const Path& path, const Stencil& s) {
  if (path.deviation.size() == 0) return 0;
  const auto largest = [&](int from, int to) {
    double d = 0;
    for (int i = from; i < to; ++i) d = std::max(d, path.deviation[s.vertices[std::size_t(i)]]);
    return d;
  };
  return 2 * (largest(0, first_count(s.kind)) + largest(first_count(s.kind), s.size()));
}

bool is_finite(const Path& path) {
  return path.start.allFinite() && path.move.allFinite() && path.deviation.allFinite();
}

}  // namespace

double collision_free_step(const CollisionSurface& surface, std::span<const Stencil> candidates,
                           const Path& path, const CcdOptions& options) {
  if (!is_finite(path)) return 0;
  const Matrix3X &x = path.start, &p = path.move;
  SharedMinimum earliest(std::min(options.upper_time, 1.0));
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
      const ContactRange range = contact_range(surface, stencil);
      query.separation = range.thickness + deviation_room(path, stencil);
      query.dhat = range.dhat;
      CcdOptions until = options;
      until.upper_time = earliest.get();
      if (const auto t = time_of_impact(query, until)) earliest.lower_to(*t);
    }
  });
  parallel_for(surface.vertex_count(), [&](Index v) {
    for (const HalfSpace& plane : surface.half_spaces) {
      const PairSettings& settings = surface.pairs(surface.vertex_body[v], plane.body);
      const Vector3 carried = plane.carrier < 0 ? Vector3::Zero() : Vector3(p.col(plane.carrier));
      const Vector3 approach = p.col(v) - carried;
      if (v == plane.carrier || !settings.enabled || (approach.array() == 0).all()) continue;
      const double size = x.col(v).lpNorm<1>() + plane.origin_at(x).lpNorm<1>();
      const double room = deviation_room(path, v, plane);
      const double gap = plane.distance(x, v) - settings.thickness - room - sum_rounding * size;
      const double closing =
          sum_rounding * (p.col(v).lpNorm<1>() + carried.lpNorm<1>()) - plane.normal.dot(approach);
      if (!(gap > 0) || std::isnan(closing)) {
        earliest.lower_to(0);
      } else if (closing > 0) {
        earliest.lower_to((gap - 0.1 * std::min(gap, settings.dhat)) / closing * (1 - 1e-12));
      }
    }
  });
  return earliest.get();
}

namespace {

/// The pairs within reach at x. For a pair, the answer does not depend on the others, and must not on
/// rounding in the cache, nor on its margin.
Candidates in_reach(const CandidateCache& cache, const Candidates& candidates, const Matrix3X& x) {
  constexpr Index chunk = 4096;
  const Index count = Index(candidates.size());
  std::vector<Candidates> parts((count + chunk - 1) / chunk);
  parallel_chunks(count, chunk, [&](Index begin, Index end) {
    for (Index c = begin; c < end; ++c)
      if (const double distance = cache.reach(candidates[c]) * (1 - 1e-9);
          squared_distance(candidates[c].kind, candidates[c].gather(x)) < distance * distance)
        parts[begin / chunk].push_back(candidates[c]);
  });
  Candidates close;
  for (const Candidates& part : parts) close.insert(close.end(), part.begin(), part.end());
  return close;
}

/// All pairs on the path up to upper_time, block by block.
double all_pairs_step(const CollisionSurface& surface, CandidateCache& cache, const Path& path,
                      CcdOptions options) {
  for (bool done = false; !done && options.upper_time > 0;) {
    // A pair's own answer does not depend on how long the path is that it is looked for on, so the minimum is
    // the same however often the path is cut. When half of it is lost, a new search that meets fewer pairs is
    // cheaper than the rest of this one.
    const double searched = options.upper_time;
    done = cache.for_each_block_along(path.start, searched * path.move, [&](std::span<const Stencil> block) {
      options.upper_time = collision_free_step(surface, block, path, options);
      return options.upper_time > searched / 2;
    });
  }
  // Also where no pair is near.
  return collision_free_step(surface, std::span<const Stencil>(), path, options);
}

}  // namespace

double collision_free_step(const CollisionSurface& surface, CandidateCache& cache, const Path& path,
                           const CcdOptions& options) {
  ensure(options.norm == SeparationNorm::euclidean,
         "collision_free_step: a cache holds pairs by their distance");
  if (!is_finite(path)) return 0;
  const Matrix3X &x = path.start, &p = path.move;
  // Pairs are found by d̂ around the chord.
  ensure(path.deviation.size() == 0 || 8 * path.deviation.maxCoeff() < surface.pairs.min_dhat(),
         "collision_free_step: a path that deviates from its chord by a share of dhat");
  CcdOptions until = options;
  until.upper_time = std::min(options.upper_time, 1.0);
  switch (cache.options().culling) {
    case CcdCulling::none:
      break;
    case CcdCulling::near_first:
      until.upper_time = collision_free_step(surface, cache.at(x), path, options);
      // Beyond the margin of the pairs around x there may be others, but only those met before the time just
      // found matter.
      if (until.upper_time <= cache.covered_share(x, p)) return until.upper_time;
      break;
    case CcdCulling::cfl: {
      until.upper_time = collision_free_step(surface, in_reach(cache, cache.at(x), x), path, options);
      // A pair out of reach has a gap of at least its d̂, and CCD stops at a share s of that, or a little
      // before.
      const double fastest =
          std::sqrt(parallel_max(Index(p.cols()), 0.0, [&](Index v) { return p.col(v).squaredNorm(); }));
      const double room = path.deviation.size() == 0 ? 0 : 4 * path.deviation.maxCoeff();
      const double others =
          0.9 * (1 - options.gap_fraction) * (surface.pairs.min_dhat() - room) / (2 * fastest);
      if (!(others < 0.5 * until.upper_time)) return std::min(others, until.upper_time);
      break;
    }
  }
  return all_pairs_step(surface, cache, path, until);
}

}  // namespace apart
