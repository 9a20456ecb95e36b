#include <apart/collision/collision_detection.hpp>
#include <apart/collision/plane_approach.hpp>
#include <apart/collision/shared_minimum.hpp>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/exact_intersection.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace apart {

namespace {

constexpr std::size_t block_size = 4'000'000;  // 80 MB of pairs

/// How close primitives may be, by their distance, for an impact.
double impact_distance(const CollisionSurface& surface, const CcdOptions& options) {
  double most = 0;
  surface.pairs.for_each_used([&](const PairSettings& s, int, int) {
    if (s.enabled) most = std::max(most, s.thickness + options.gap_fraction * s.dhat);
  });
  return options.norm == SeparationNorm::maximum ? most * std::numbers::sqrt3 : most;
}

}  // namespace

CollisionSurface collision_surface(const Matrix3X& rest, const Faces& faces, const Edges& segments,
                                   double separation) {
  PairTable pairs(1);
  pairs.set(0, 0, {.thickness = separation});
  return {rest, faces, segments, std::vector<int>(rest.cols(), 0), pairs, {}};
}

Candidates find_candidates(const CollisionSurface& surface, const Matrix3X& x0, const Matrix3X& x1,
                           double radius) {
  return make_bvh(surface)->find(x0, x1, radius);
}

namespace {

/// When a vertex comes to where CCD stops before a half-space; more than 1 if it does not.
double time_at_plane(const CollisionSurface& surface, const HalfSpace& plane, const Matrix3X& x0,
                     const Matrix3X& p, Index v, const CcdOptions& options) {
  const PairSettings& settings = surface.pairs(surface.vertex_body[std::size_t(v)], plane.body);
  if (v == plane.carrier || !settings.enabled) return 2;
  const auto [gap, closing] = plane_approach(plane, settings.thickness, x0, p, v);
  if (!(gap > 0)) return 0;
  const double room = gap - options.gap_fraction * std::min(gap, settings.dhat);
  return closing > 0 ? room / closing * (1 - 1e-12) : 2;
}

/// The earliest of these times before `until`, and the first plane and vertex that have it.
std::optional<Impact> earliest_at_planes(const CollisionSurface& surface, const Matrix3X& x0,
                                         const Matrix3X& p, const CcdOptions& options, double until) {
  std::optional<Impact> result;
  for (Index i = 0; i < Index(surface.half_spaces.size()); ++i) {
    const HalfSpace& plane = surface.half_spaces[std::size_t(i)];
    for (Index v = 0; v < surface.vertex_count(); ++v)
      if (const double t = time_at_plane(surface, plane, x0, p, v, options); t < until) {
        until = t;
        result = Impact{t, {.kind = PairKind::point_point, .vertices = {v, -1, -1, -1}}, i};
      }
  }
  return result;
}

}  // namespace

std::optional<Impact> earliest_impact(const CollisionSurface& surface, const Matrix3X& x0, const Matrix3X& x1,
                                      const CcdOptions& options) {
  ensure(x0.cols() == surface.vertex_count() && x1.cols() == surface.vertex_count(),
         "earliest_impact: as many positions as vertices");
  if (!x0.allFinite() || !x1.allFinite())
    throw InputError("earliest_impact: a coordinate is not finite; give numbers");
  const auto search = make_bvh(surface);
  const Matrix3X p = x1 - x0;
  const double radius = impact_distance(surface, options);
  const auto time_of = [&](const Stencil& pair, double upper_time) {
    const ContactRange range = contact_range(surface, pair);
    CcdOptions until = options;
    until.upper_time = upper_time;
    return time_of_impact({.kind = pair.kind,
                           .x = pair.gather(x0),
                           .displacement = pair.gather(p),
                           .separation = range.thickness,
                           .dhat = range.dhat},
                          until);
  };
  // First the time, over ever shorter paths; then the pair, up to that time.
  std::optional<double> earliest;
  const auto lower = [&](std::span<const Stencil> block) {
    SharedMinimum time(earliest.value_or(options.upper_time));
    parallel_for(Index(block.size()), [&](Index i) {
      if (const auto t = time_of(block[i], time.get())) time.lower_to(*t);
    });
    if (time.get() < options.upper_time) earliest = time.get();
    return !earliest || *earliest > 0;
  };
  search->for_each_block(block_size, x0, x1, radius, lower);
  const double before = earliest.value_or(std::nextafter(std::min(options.upper_time, 1.0), 2.0));
  if (const auto at_plane = earliest_at_planes(surface, x0, p, options, before)) return at_plane;
  if (!earliest) return std::nullopt;
  std::optional<Stencil> first;
  const double just_after = std::nextafter(*earliest, 2.0);
  const auto name = [&](std::span<const Stencil> block) {
    const Index count = Index(block.size());
    const double place = parallel_min(count, double(count), [&](Index i) {
      return time_of(block[i], just_after) == earliest ? double(i) : double(count);
    });
    if (place < double(count) && (!first || block[Index(place)] < *first)) first = block[Index(place)];
    return true;
  };
  search->for_each_block(block_size, x0, x1, radius, name);
  return Impact{*earliest, *first};
}

bool is_step_free(const CollisionSurface& surface, const Matrix3X& x0, const Matrix3X& x1,
                  const CcdOptions& options) {
  return !earliest_impact(surface, x0, x1, options);
}

std::optional<std::pair<Index, Index>> first_intersection(const CollisionSurface& surface,
                                                          const Matrix3X& x) {
  Edges segments(2, Index(surface.free_edges.size()));
  for (Index e = 0; e < segments.cols(); ++e) segments.col(e) = surface.edges.col(surface.free_edges[e]);
  Eigen::VectorXi points(Index(surface.isolated_vertices.size()));
  for (Index i = 0; i < points.size(); ++i) points[i] = surface.isolated_vertices[i];
  const auto enabled = [&](Index i, Index j) { return surface.settings(i, j).enabled; };
  const auto all = exact::surface(surface.vertex_count(), surface.faces, segments, points);
  const auto counts = [&](const exact::PrimitivePair& pair) {
    if (!surface.can_collide) return true;
    for (int i = 0; i < pair.a.size(); ++i)
      for (int j = 0; j < pair.b.size(); ++j)
        if (surface.can_collide(pair.a.vertices[i], pair.b.vertices[j])) return true;
    return false;
  };
  const std::size_t limit = surface.can_collide ? std::size_t(-1) : 1;
  for (const exact::PrimitivePair& pair : exact::find_intersections(x, all, enabled, limit))
    if (counts(pair)) return std::pair(Index(pair.a.vertices[0]), Index(pair.b.vertices[0]));
  return std::nullopt;
}

bool self_intersects(const CollisionSurface& surface, const Matrix3X& x) {
  return first_intersection(surface, x).has_value();
}

}  // namespace apart
