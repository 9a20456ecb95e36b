#include <apart/collision/active_set.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/edge_edge_mollifier.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace apart {

namespace {

/// The contacts found among the candidates of one chunk. Point–triangle and edge–edge contacts are candidates
/// themselves, so their numbers are enough, and are in order; those reduced to fewer points are sorted and
/// merged later.
struct Part {
  std::vector<std::array<Index, 2>> point_point;
  std::vector<std::array<Index, 3>> point_edge;
  std::vector<Index> point_triangle, edge_edge;
  std::vector<std::pair<Index, double>> mollified;  // with ε
  std::vector<Contact> shortened;
  double min_squared = infinity, min_gap = infinity;
};

/// The stencil of the two or three vertices that take part in a distance, in canonical order.
Stencil reduced(unsigned taking_part, const Stencil& stencil) {
  std::array<Index, 2> side[2];
  int size[2] = {0, 0};
  for (int i = 0; i < stencil.size(); ++i)
    if (taking_part >> i & 1) {
      const int of = i >= first_count(stencil.kind);
      side[of][size[of]++] = stencil.vertices[i];
    }
  if (size[0] + size[1] == 2)
    return {PairKind::point_point,
            {std::min(side[0][0], side[1][0]), std::max(side[0][0], side[1][0]), -1, -1}};
  const auto& edge = side[size[1] == 2];
  const auto& point = side[size[1] == 1];
  return {PairKind::point_edge, {point[0], std::min(edge[0], edge[1]), std::max(edge[0], edge[1]), -1}};
}

void classify(const CollisionSurface& surface, const NearPairs& candidates, const Matrix3X& x, Index c,
              Part& part) {
  if (candidates.is_known() && candidates.distance_at_sight(c) > 1.001 * candidates.most_reach) return;
  const Stencil& stencil = candidates.pairs[std::size_t(c)];
  const PairSettings& settings =
      surface.settings(stencil.vertices[0], stencil.vertices[first_count(stencil.kind)]);
  const double reach = settings.thickness + settings.dhat;
  if (candidates.least_distance(c) > 1.001 * reach) return;
  const StencilPoints points = stencil.gather(x);
  const ClosestPoints closest = closest_points(stencil.kind, points);
  const double squared = closest.r.squaredNorm();
  if (candidates.is_known())
    candidates.here[std::size_t(c)] = rounded_down(sure_distance(stencil.kind, points, closest.r));
  if (!(squared < reach * reach)) return;
  ContactRange range{settings.thickness, settings.dhat};
  if (in_own_piece(surface, stencil, settings)) {
    range = own_range(surface, stencil, settings);
    if (const double own = range.thickness + range.dhat; !(squared < own * own)) return;
  }
  part.min_squared = std::min(part.min_squared, squared);
  part.min_gap = std::min(part.min_gap, std::sqrt(squared) - range.thickness);
  if (stencil.kind == PairKind::edge_edge) {
    // Also for features that reduce to points: the mollifier is what makes the change of feature smooth. A
    // rest edge without length has no scale for it (ε = 0); such an edge is a point, which its closest
    // features reduce to.
    const double threshold = edge_edge_mollifier_threshold(stencil.gather(surface.rest));
    if (threshold > 1e-100 && edge_edge_cross_squared(points) < threshold) {
      if (range.shortened)
        part.shortened.push_back(
            {stencil, 1, threshold, range.dhat, range.thickness, settings.stiffness_scale});
      else
        part.mollified.emplace_back(c, threshold);
      return;
    }
  }
  const bool whole = closest.vertices == 0b1111;
  if (range.shortened) {
    part.shortened.push_back({whole ? stencil : reduced(closest.vertices, stencil), 1, 0, range.dhat,
                              range.thickness, settings.stiffness_scale});
  } else if (whole) {
    (stencil.kind == PairKind::edge_edge ? part.edge_edge : part.point_triangle).push_back(c);
  } else {
    const Stencil r = reduced(closest.vertices, stencil);
    if (r.kind == PairKind::point_point)
      part.point_point.push_back({r.vertices[0], r.vertices[1]});
    else
      part.point_edge.push_back({r.vertices[0], r.vertices[1], r.vertices[2]});
  }
}

/// Sorts by first vertex in one counting pass, then the few of each vertex.
template <std::size_t n>
std::vector<std::array<Index, n>> sorted(const std::vector<Part>& parts,
                                         std::vector<std::array<Index, n>> Part::*member,
                                         Index vertex_count) {
  std::size_t count = 0;
  for (const Part& part : parts) count += (part.*member).size();
  if (16 * count < std::size_t(vertex_count)) {  // not worth a look at every vertex
    std::vector<std::array<Index, n>> few;
    for (const Part& part : parts) few.insert(few.end(), (part.*member).begin(), (part.*member).end());
    std::sort(few.begin(), few.end());
    return few;
  }
  std::vector<Index> begin(vertex_count + 1, 0);
  for (const Part& part : parts)
    for (const auto& key : part.*member) ++begin[key[0] + 1];
  for (Index v = 0; v < vertex_count; ++v) begin[v + 1] += begin[v];
  std::vector<std::array<Index, n>> keys(begin[vertex_count]);
  std::vector<Index> next(begin.begin(), begin.end() - 1);
  for (const Part& part : parts)
    for (const auto& key : part.*member) keys[next[key[0]]++] = key;
  parallel_for(vertex_count,
               [&](Index v) { std::sort(keys.begin() + begin[v], keys.begin() + begin[v + 1]); });
  return keys;
}

}  // namespace

ActiveSet find_active_set(const CollisionSurface& surface, const NearPairs& candidates, const Matrix3X& x) {
  constexpr Index chunk = 4096;
  const Index count = Index(candidates.pairs.size());
  std::vector<Part> parts((count + chunk - 1) / chunk);
  parallel_chunks(count, chunk, [&](Index begin, Index end) {
    Part& part = parts[begin / chunk];
    for (Index c = begin; c < end; ++c) classify(surface, candidates, x, c, part);
  });

  ActiveSet active;
  active.min_gap = infinity;
  double min_squared = infinity;
  std::size_t most = 0;
  for (const Part& part : parts) {
    min_squared = std::min(min_squared, part.min_squared);
    active.min_gap = std::min(active.min_gap, part.min_gap);
    most += part.point_point.size() + part.point_edge.size() + part.point_triangle.size() +
            part.edge_edge.size() + part.mollified.size() + part.shortened.size();
  }
  active.min_distance = std::sqrt(min_squared);

  active.contacts.reserve(most);
  const auto add = [&](const Stencil& stencil, double multiplicity, double threshold) {
    const PairSettings& settings =
        surface.settings(stencil.vertices[0], stencil.vertices[first_count(stencil.kind)]);
    active.contacts.push_back(
        {stencil, multiplicity, threshold, settings.dhat, settings.thickness, settings.stiffness_scale});
  };
  const auto add_merged = [&](PairKind kind, const auto& keys) {
    for (std::size_t i = 0, j = 0; i < keys.size(); i = j) {
      while (j < keys.size() && keys[j] == keys[i]) ++j;
      Stencil stencil{kind, {-1, -1, -1, -1}};
      std::copy(keys[i].begin(), keys[i].end(), stencil.vertices.begin());
      add(stencil, double(j - i), 0);
    }
  };
  add_merged(PairKind::point_point, sorted(parts, &Part::point_point, surface.vertex_count()));
  add_merged(PairKind::point_edge, sorted(parts, &Part::point_edge, surface.vertex_count()));
  for (const Part& part : parts)
    for (Index c : part.point_triangle) add(candidates.pairs[std::size_t(c)], 1, 0);
  for (const Part& part : parts)
    for (Index c : part.edge_edge) add(candidates.pairs[std::size_t(c)], 1, 0);
  for (const Part& part : parts)
    for (const auto& [c, threshold] : part.mollified) add(candidates.pairs[std::size_t(c)], 1, threshold);
  for (const Part& part : parts)
    active.contacts.insert(active.contacts.end(), part.shortened.begin(), part.shortened.end());

  for (Index plane = 0; plane < Index(surface.half_spaces.size()); ++plane) {
    const HalfSpace& half_space = surface.half_spaces[plane];
    for (Index v = 0; v < surface.vertex_count(); ++v) {
      const PairSettings& settings = surface.pairs(surface.vertex_body[v], half_space.body);
      const double distance = half_space.distance(x, v);
      if (v == half_space.carrier || !settings.enabled || !(distance < settings.thickness + settings.dhat))
        continue;
      active.plane_contacts.push_back({v, plane});
      active.min_distance = std::min(active.min_distance, distance);
      active.min_gap = std::min(active.min_gap, distance - settings.thickness);
    }
  }
  return active;
}

}  // namespace apart
