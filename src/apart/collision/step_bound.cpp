#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/curved_ccd.hpp>
#include <apart/collision/moving_pair.hpp>
#include <apart/collision/nearer_pairs.hpp>
#include <apart/collision/plane_approach.hpp>
#include <apart/collision/shared_minimum.hpp>
#include <apart/collision/step_bound.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

bool is_finite(const Path& path) {
  // Zero times anything that is not finite is not zero; a sum is much faster than a look at each.
  const auto is = [](const auto& m) { return (0 * m.array()).sum() == 0; };
  return is(path.start) && is(path.move) && is(path.bend);
}

bool is_straight(const Path& path, const Stencil& s) {
  for (int i = 0; i < s.size(); ++i)
    if (!path.is_straight(s.vertices[std::size_t(i)])) return false;
  return true;
}

/// The query of a pair along the chord of its path.
CcdQuery chord_query(const CollisionSurface& surface, const Path& path, const Stencil& s) {
  const ContactRange range = contact_range(surface, s);
  return {s.kind, s.gather(path.start), s.gather(path.move), range.thickness, range.dhat};
}

/// Whether any vertex of a pair moves along its chord.
bool moves(const Path& path, const Stencil& s) {
  bool any = false;
  for (int i = 0; i < s.size(); ++i) any |= (path.move.col(s.vertices[std::size_t(i)]).array() != 0).any();
  return any;
}

CurvedAnswer curved_answer(const CcdQuery& chord, const Path& path, const Stencil& s,
                           const CcdOptions& options) {
  const std::span<const Index> points(s.vertices.data(), std::size_t(s.size()));
  const auto at = [&](double t) { return path.curve->at(t, points); };
  CurvedQuery query{chord, {}, path.rounding, at};
  for (int i = 0; i < s.size(); ++i) query.bend[std::size_t(i)] = path.bend[s.vertices[std::size_t(i)]];
  return curved_time_of_impact(query, options);
}

/// Until when a vertex keeps a share of its distance from a plane, no later than `until`.
double free_of_plane(const HalfSpace& plane, const PairSettings& settings, const Path& path, Index v,
                     double until) {
  const Matrix3X &x = path.start, &p = path.move;
  const Vector3 carried = plane.carrier < 0 ? Vector3::Zero() : Vector3(p.col(plane.carrier));
  const Vector3 approach = p.col(v) - carried;
  const bool straight = path.is_straight(v) && (plane.carrier < 0 || path.is_straight(plane.carrier));
  if (straight && (approach.array() == 0).all()) return until;
  const double size = x.col(v).lpNorm<1>() + plane.origin_at(x).lpNorm<1>();
  const double blur = sum_rounding * (p.col(v).lpNorm<1>() + carried.lpNorm<1>());
  const auto room = [&](double gap) { return gap - 0.1 * std::min(gap, settings.dhat); };
  if (straight) {
    const auto [gap, closing] = plane_approach(plane, settings.thickness, x, p, v);
    if (!(gap > 0) || std::isnan(closing)) return 0;
    return closing > 0 ? std::min(until, room(gap) / closing * (1 - 1e-12)) : until;
  }
  // Piece by piece, each halved until how much it may bend is small against the gap.
  const std::array<Index, 2> points = {v, std::max(plane.carrier, 0)};
  const double bend = path.bend[v] + (plane.carrier < 0 ? 0 : path.bend[plane.carrier]);
  const double lowest = settings.thickness + blur + 2 * path.rounding + sum_rounding * size;
  double now = plane.distance(x, v), t = 0, length = 1;
  if (!(now > lowest)) return 0;
  const double level = now - room(now - lowest);
  while (t < until) {
    length = std::min(2 * length, 1 - t);
    for (;; length /= 2) {
      Vector3 away = x.col(v) + p.col(v) - plane.origin_at(x) - carried;
      if (t + length < 1) {
        const auto at = path.curve->at(t + length, std::span(points).first(plane.carrier < 0 ? 1 : 2));
        away = at[0] - (plane.carrier < 0 ? plane.origin : at[1]);
      }
      const double end = plane.normal.dot(away);
      const double falls = falls_to(level, now, end, bend * length * length);
      if (falls > 1) {
        now = end;
        break;
      }
      if (bend * length * length / 8 <= 0.25 * (now - level) || length < 0x1p-40)
        return std::min(until, t + falls * length);
    }
    t += length;
  }
  return until;
}

/// What pairs leave of a path, and which of them may have to cut it.
struct Looked {
  double alpha = 1;
  Candidates cutting = {};
};

/// Whether a pair is so far apart, or moves so little, that no method would end its path: half of the gap
/// that may be used up is left.
bool is_surely_free(const CollisionSurface& surface, const NearPairs& candidates, Index c, const Path& path,
                    const CcdOptions& options) {
  if (!candidates.is_known() || options.method != CcdMethod::additive) return false;
  const Stencil& s = candidates.pairs[std::size_t(c)];
  const double gap = candidates.least_distance(c) -
                     surface.settings(s.vertices[0], s.vertices[first_count(s.kind)]).thickness;
  if (!(gap > 0)) return false;
  double change = largest_change(s, path.move);
  for (int i = 0; i < s.size(); ++i) {
    const Index v = s.vertices[std::size_t(i)];
    change += path.deviation(v) + 2 * sum_rounding * path.start.col(v).lpNorm<1>();
  }
  return change < 0.5 * (1 - options.gap_fraction) * gap;
}

/// A distance [m] from which on is_surely_free() holds whatever the pair: its change is no more than twice
/// that of the vertex that moves farthest.
double surely_free_from(const NearPairs& candidates, const Path& path, const CcdOptions& options) {
  if (!candidates.is_known() || options.method != CcdMethod::additive || path.start.cols() == 0)
    return infinity;
  const double rounding = 6 * sum_rounding * path.start.cwiseAbs().maxCoeff();
  const double change = 2 * longest_column(path.move) + 4 * (path.largest_deviation() + rounding);
  return candidates.most_thickness + 1.001 * change / (0.5 * (1 - options.gap_fraction));
}

Looked look(const CollisionSurface& surface, const NearPairs& near, const Path& path,
            const CcdOptions& options) {
  const std::span<const Stencil> candidates = near.pairs;
  SharedMinimum earliest(std::min(options.upper_time, 1.0));
  constexpr Index chunk = 512;
  std::vector<Candidates> cutting(
      path.is_straight() ? 0 : (candidates.size() + std::size_t(chunk) - 1) / std::size_t(chunk));
  const double far = surely_free_from(near, path, options);
  parallel_chunks(Index(candidates.size()), chunk, [&](Index begin, Index end) {
    for_each_nearer(near, far, begin, end, [&](Index c) {
      const Stencil& stencil = candidates[std::size_t(c)];
      if (is_surely_free(surface, near, c, path, options)) return;
      const bool straight = path.is_straight() || is_straight(path, stencil);
      if (straight && !moves(path, stencil)) return;  // a turn may end where it began
      const CcdQuery query = chord_query(surface, path, stencil);
      CcdOptions until = options;
      until.upper_time = earliest.get();
      if (straight) {
        if (const auto t = time_of_impact(query, until)) earliest.lower_to(*t);
        return;
      }
      const CurvedAnswer answer = curved_answer(query, path, stencil, until);
      if (answer.time) earliest.lower_to(*answer.time);
      if (!answer.corners.empty()) cutting[std::size_t(begin / chunk)].push_back(stencil);
    });
  });
  const Index vertices_of_planes = surface.half_spaces.empty() ? 0 : surface.vertex_count();
  parallel_for(vertices_of_planes, [&](Index v) {
    for (const HalfSpace& plane : surface.half_spaces) {
      const PairSettings& settings = surface.pairs(surface.vertex_body[v], plane.body);
      if (v == plane.carrier || !settings.enabled) continue;
      earliest.lower_to(free_of_plane(plane, settings, path, v, earliest.get()));
    }
  });
  Looked result{earliest.get()};
  for (const Candidates& part : cutting)
    result.cutting.insert(result.cutting.end(), part.begin(), part.end());
  return result;
}

/// Where pairs cut a path of which a share is free. Asked when that share is known: which corners a pair has
/// reported before depends on what others had left of the path by then.
StepBound with_corners(const CollisionSurface& surface, Looked looked, const Path& path,
                       const CcdOptions& options) {
  StepBound result{looked.alpha};
  std::sort(looked.cutting.begin(), looked.cutting.end());
  looked.cutting.erase(std::unique(looked.cutting.begin(), looked.cutting.end()), looked.cutting.end());
  CcdOptions until = options;
  until.upper_time = looked.alpha;
  std::vector<std::vector<double>> corners(looked.cutting.size());
  parallel_for(
      Index(looked.cutting.size()),
      [&](Index i) {
        const Stencil& s = looked.cutting[std::size_t(i)];
        corners[std::size_t(i)] = curved_answer(chord_query(surface, path, s), path, s, until).corners;
      },
      8);
  for (const auto& of_pair : corners)
    result.corners.insert(result.corners.end(), of_pair.begin(), of_pair.end());
  std::sort(result.corners.begin(), result.corners.end());
  result.corners.erase(std::unique(result.corners.begin(), result.corners.end()), result.corners.end());
  while (!result.corners.empty() && result.corners.back() >= result.alpha) result.corners.pop_back();
  return result;
}

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

/// All pairs on the path up to `looked`, block by block. In a team each process looks at its own; they agree
/// on what is left of the path whenever they search, because they must all do so for the same part of it.
void look_at_all(const CollisionSurface& surface, CandidateCache& cache, const Path& path,
                 const CcdOptions& options, Looked& looked) {
  CcdOptions until = options;
  const auto look_at = [&](std::span<const Stencil> block) {
    until.upper_time = looked.alpha;
    Looked more = look(surface, NearPairs(block), path, until);
    looked.alpha = more.alpha;
    looked.cutting.insert(looked.cutting.end(), more.cutting.begin(), more.cutting.end());
  };
  for (bool done = false; !done && looked.alpha > 0;) {
    // A pair's own answer does not depend on how long the path is that it is looked for on, so the minimum is
    // the same however often the path is cut. When half of it is lost, a new search with fewer pairs is
    // cheaper than the rest of this one.
    const double searched = looked.alpha;
    done = cache.for_each_block_along(path, searched, [&](std::span<const Stencil> block) {
      look_at(block);
      return looked.alpha > searched / 2;
    });
    done = !cache.team().any(!done);
    looked.alpha = cache.team().min(looked.alpha);
  }
  look_at({});  // also where no pair is near; of planes every process looks at all
}

}  // namespace

StepBound collision_free_step(const CollisionSurface& surface, std::span<const Stencil> candidates,
                              const Path& path, const CcdOptions& options) {
  ensure(path.is_straight() || path.curve,
         "collision_free_step: a path that bends says where its points are");
  if (!is_finite(path)) return {0};
  return with_corners(surface, look(surface, NearPairs(candidates), path, options), path, options);
}

StepBound collision_free_step(const CollisionSurface& surface, CandidateCache& cache, const Path& path,
                              const CcdOptions& options) {
  ensure(options.norm == SeparationNorm::euclidean,
         "collision_free_step: a cache holds pairs by their distance");
  ensure(path.is_straight() || path.curve,
         "collision_free_step: a path that bends says where its points are");
  if (!is_finite(path)) return {0};
  Looked looked{std::min(options.upper_time, 1.0)};
  switch (cache.options().culling) {
    case CcdCulling::none:
      break;
    case CcdCulling::near_first:
      looked = look(surface, cache.near(path.start), path, options);
      looked.alpha = cache.team().min(looked.alpha);
      // Beyond the margin of the pairs around x there may be others, but only those met before the time just
      // found matter.
      if (looked.alpha <= cache.covered_share(path)) return with_corners(surface, looked, path, options);
      break;
    case CcdCulling::cfl: {
      looked = look(surface, in_reach(cache, cache.at(path.start), path.start), path, options);
      looked.alpha = cache.team().min(looked.alpha);
      // A pair out of reach has a gap of at least its d̂, and CCD stops at a share s of that, or a little
      // before.
      const double fastest = std::sqrt(parallel_max(Index(path.move.cols()), 0.0,
                                                    [&](Index v) { return path.move.col(v).squaredNorm(); }));
      const double room =
          path.is_straight() ? 0 : 2 * (path.bend.maxCoeff() / 8 + path.rounding);  // of two curves
      const double others =
          0.9 * (1 - options.gap_fraction) * (surface.pairs.min_dhat() - room) / (2 * fastest);
      if (!(others < 0.5 * looked.alpha)) {
        looked.alpha = std::min(others, looked.alpha);
        return with_corners(surface, looked, path, options);
      }
      break;
    }
  }
  look_at_all(surface, cache, path, options, looked);
  return with_corners(surface, looked, path, options);
}

}  // namespace apart
