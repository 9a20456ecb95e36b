#include <apart/collision/active_set.hpp>
#include <apart/collision/nearer_pairs.hpp>
#include <apart/core/parallel.hpp>
#include <apart/geometry/edge_edge_mollifier.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace apart {

namespace {

/// Sums of weights below this share of their parts are zero but for rounding.
constexpr double cancelled = 1e-12;

/// Points of a contact that several pairs may share, in canonical order, and the weight of one of them.
template <std::size_t n>
struct Weighted {
  std::array<Index, n> points;
  double weight;
  auto operator<=>(const Weighted&) const = default;
};
struct WeightedStencil {
  Stencil stencil;
  double weight;
  double threshold = 0;  ///< ε
};

/// The contacts found among the candidates of one chunk. Point–triangle and edge–edge contacts are candidates
/// themselves, which are in order; those reduced to fewer points are sorted and merged later.
struct Part {
  std::vector<Weighted<2>> point_point;
  std::vector<Weighted<3>> point_edge;
  std::vector<WeightedStencil> point_triangle, edge_edge, mollified;
  std::vector<Contact> shortened;
  std::vector<PlaneContact> plane;
  struct Least {
    double squared = infinity;         ///< of pairs [m²]
    double plane_distance = infinity;  ///< [m]
    double gap = infinity;             ///< of all [m]
    void include(const Least& other) {
      squared = std::min(squared, other.squared);
      plane_distance = std::min(plane_distance, other.plane_distance);
      gap = std::min(gap, other.gap);
    }
  } least;

  /// visit(list) for each of the lists.
  template <class Self, class Visit>
  static void for_each_list(Self& self, const Visit& visit) {
    visit(self.point_point), visit(self.point_edge), visit(self.point_triangle), visit(self.edge_edge),
        visit(self.mollified), visit(self.shortened), visit(self.plane);
  }

  void add(const Stencil& reduced, double weight) {
    const auto& v = reduced.vertices;
    if (reduced.kind == PairKind::point_point)
      point_point.push_back({{v[0], v[1]}, weight});
    else
      point_edge.push_back({{v[0], v[1], v[2]}, weight});
  }
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

/// Weight of a candidate: its share of the area [m²], or one for every pair.
double weight_of(const CollisionSurface& surface, const Stencil& s) {
  const ContactWeights& weights = surface.weights;
  const auto& v = s.vertices;
  if (weights.empty()) return 1;
  if (s.kind == PairKind::edge_edge) {
    // Where reach spans several edges all pairs in reach have a distance, not only those that cross: about as
    // many more as the area in reach is larger than that of the strips, which are a third of a length wide.
    const PairSettings& settings = surface.settings(v[0], v[2]);
    const double length = std::min((surface.rest.col(v[1]) - surface.rest.col(v[0])).norm(),
                                   (surface.rest.col(v[3]) - surface.rest.col(v[2])).norm());
    const double spanned = 3 * (settings.thickness + settings.dhat) / length;
    return weights.of_edges(v[0], v[1], v[2], v[3]) / (1 + spanned * spanned);
  }
  if (s.kind == PairKind::point_point) return weights.of_points(v[0], v[1]);
  return weights.of_vertex(v[0], surface.vertex_body[std::size_t(v[0])],
                           surface.vertex_body[std::size_t(v[1])]);
}

Stencil vertex_and(Index v, const ContactWeights::TopCell& top) {
  if (top[2] < 0) return {PairKind::point_edge, {v, top[0], top[1], -1}};
  return {PairKind::point_triangle, {v, top[0], top[1], top[2]}};
}

/// Whether contact of vertex v with every triangle and segment that contains the edge or vertex acts at full
/// reach. What they have in common must not be taken off if one of them is missing: the rest would attract.
bool all_act(const CollisionSurface& surface, Index v, const ContactWeights::LowerCell& cell,
             const PairSettings& settings) {
  const Index first = cell.vertices[0], second = cell.vertices[1];
  if (surface.vertex_piece[std::size_t(v)] != surface.vertex_piece[std::size_t(first)] &&
      !surface.can_collide)
    return true;
  return std::ranges::all_of(surface.weights.star(first), [&](const ContactWeights::TopCell& top) {
    if (second >= 0 && std::ranges::find(top, second) == top.end()) return true;
    const Stencil s = vertex_and(v, top);
    return std::ranges::find(top, v) == top.end() &&
           (!surface.can_collide || any_can_collide(surface.can_collide, s)) &&
           !(in_own_piece(surface, s, settings) && own_range(surface, s, settings).shortened);
  });
}

/// The edges and vertices that a vertex's nearest triangles and segments have in common, with their signs.
void add_common_cells(const CollisionSurface& surface, const Stencil& stencil, const Matrix3X& x,
                      const PairSettings& settings, Part& part) {
  const Index v = stencil.vertices[0];
  const ContactWeights::TopCell top = {stencil.vertices[1], stencil.vertices[2],
                                       stencil.kind == PairKind::point_edge ? -1 : stencil.vertices[3]};
  const double reach = settings.thickness + settings.dhat;
  const double weight = weight_of(surface, stencil);
  surface.weights.for_each_owned(top, [&](const ContactWeights::LowerCell& cell) {
    const auto [first, second] = cell.vertices;
    const Stencil pair =
        second < 0 ? Stencil{PairKind::point_point, {std::min(v, first), std::max(v, first), -1, -1}}
                   : Stencil{PairKind::point_edge, {v, first, second, -1}};
    const ClosestPoints closest = closest_points(pair.kind, pair.gather(x));
    if (!(closest.r.squaredNorm() < reach * reach) || !all_act(surface, v, cell, settings)) return;
    const bool whole = closest.vertices == (second < 0 ? 0b11u : 0b111u);
    part.add(whole ? pair : reduced(closest.vertices, pair), cell.sign * weight);
  });
}

void classify(const CollisionSurface& surface, const NearPairs& candidates, const Matrix3X& x, Index c,
              Part& part) {
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
  part.least.include({.squared = squared, .gap = std::sqrt(squared) - range.thickness});
  const double weight = weight_of(surface, stencil);
  const auto add_shortened = [&](const Stencil& s, double threshold) {
    double scale = settings.stiffness_scale;
    if (!surface.weights.empty())  // the same pressure at the same share of a shorter reach
      scale *= force_scale(settings.thickness, settings.dhat) / force_scale(range.thickness, range.dhat);
    part.shortened.push_back({s, weight, threshold, range.dhat, range.thickness, scale});
  };
  if (stencil.kind == PairKind::edge_edge) {
    // Also for features that reduce to points: the mollifier is what makes the change of feature smooth. A
    // rest edge without length has no scale for it (ε = 0); such an edge is a point, which its closest
    // features reduce to.
    const double threshold = edge_edge_mollifier_threshold(stencil.gather(surface.rest));
    if (threshold > 1e-100 && edge_edge_cross_squared(points) < threshold) {
      if (range.shortened)
        add_shortened(stencil, threshold);
      else
        part.mollified.push_back({stencil, weight, threshold});
      return;
    }
  }
  const bool whole = closest.vertices == 0b1111;
  if (range.shortened)
    add_shortened(whole ? stencil : reduced(closest.vertices, stencil), 0);
  else if (whole)
    (stencil.kind == PairKind::edge_edge ? part.edge_edge : part.point_triangle).push_back({stencil, weight});
  else
    part.add(reduced(closest.vertices, stencil), weight);
  const bool has_common_cells =
      stencil.kind == PairKind::point_triangle || stencil.kind == PairKind::point_edge;
  if (!surface.weights.empty() && has_common_cells && !range.shortened)
    add_common_cells(surface, stencil, x, settings, part);
}

/// Sorts by first vertex in one counting pass, then the few of each vertex.
template <std::size_t n>
std::vector<Weighted<n>> sorted(const std::vector<Part>& parts, std::vector<Weighted<n>> Part::*member,
                                Index vertex_count) {
  std::size_t count = 0;
  for (const Part& part : parts) count += (part.*member).size();
  if (4 * count < std::size_t(vertex_count)) {  // not worth a look at every vertex
    std::vector<Weighted<n>> few;
    for (const Part& part : parts) few.insert(few.end(), (part.*member).begin(), (part.*member).end());
    std::sort(few.begin(), few.end());
    return few;
  }
  std::vector<Index> begin(vertex_count + 1, 0);
  for (const Part& part : parts)
    for (const auto& key : part.*member) ++begin[key.points[0] + 1];
  for (Index v = 0; v < vertex_count; ++v) begin[v + 1] += begin[v];
  std::vector<Weighted<n>> keys(begin[vertex_count]);
  std::vector<Index> next(begin.begin(), begin.end() - 1);
  for (const Part& part : parts)
    for (const auto& key : part.*member) keys[next[key.points[0]]++] = key;
  parallel_for(vertex_count,
               [&](Index v) { std::sort(keys.begin() + begin[v], keys.begin() + begin[v + 1]); });
  return keys;
}

/// Adds the contacts of the vertices [begin, end) with a half-space.
void add_plane_contacts(const CollisionSurface& surface, const Matrix3X& x, Index plane,
                        std::pair<Index, Index> vertices, Part& part) {
  const HalfSpace& half_space = surface.half_spaces[plane];
  for (Index v = vertices.first; v < vertices.second; ++v) {
    const PairSettings& settings = surface.pairs(surface.vertex_body[v], half_space.body);
    const double distance = half_space.distance(x, v);
    if (v == half_space.carrier || !settings.enabled || !(distance < settings.thickness + settings.dhat))
      continue;
    part.plane.push_back({v, plane, surface.weights.empty() ? 1 : surface.weights.area(v)});
    part.least.include({.plane_distance = distance, .gap = distance - settings.thickness});
  }
}

/// Sorts a list that consists of sorted ones, `ends` of them.
template <class T, class Key>
void merge_runs(std::vector<T>& list, std::vector<std::size_t> ends, const Key& key) {
  const auto at = [&](std::size_t place) { return list.begin() + std::ptrdiff_t(place); };
  while (ends.size() > 1) {
    std::vector<std::size_t> next;
    for (std::size_t i = 0, begin = 0; i < ends.size(); i += 2) {
      const std::size_t end = ends[std::min(i + 1, ends.size() - 1)];
      std::ranges::inplace_merge(at(begin), at(ends[i]), at(end), {}, key);
      next.push_back(begin = end);
    }
    ends = std::move(next);
  }
}

/// What all processes have found, as one part.
Part joined(const std::vector<Part>& own, const Team& team) {
  Part all;
  Bytes message;
  const auto append = [&](const void* data, std::size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(data);
    message.insert(message.end(), begin, begin + bytes);
  };
  for (const Part& part : own) {
    append(&part.least, sizeof part.least);
    Part::for_each_list(part, [&](const auto& list) {
      const std::size_t count = list.size();
      append(&count, sizeof count);
      append(list.data(), count * sizeof(list[0]));
    });
  }
  std::vector<std::size_t> triangles, edges, mollified, planes;  // ends of what each process has found
  for (const Bytes& bytes : team.gather(std::move(message))) {
    for (const std::byte* next = bytes.data(); next != bytes.data() + bytes.size();) {
      Part::Least least;
      std::memcpy(&least, next, sizeof least);
      all.least.include(least);
      next += sizeof least;
      Part::for_each_list(all, [&](auto& list) {
        std::size_t count;
        std::memcpy(&count, next, sizeof count);
        const std::size_t before = list.size(), size = count * sizeof(list[0]);
        list.resize(before + count);
        if (count > 0) std::memcpy(list.data() + before, next + sizeof count, size);
        next += sizeof count + size;
      });
    }
    triangles.push_back(all.point_triangle.size());
    edges.push_back(all.edge_edge.size());
    mollified.push_back(all.mollified.size());
    planes.push_back(all.plane.size());
  }
  merge_runs(all.point_triangle, triangles, &WeightedStencil::stencil);
  merge_runs(all.edge_edge, edges, &WeightedStencil::stencil);
  merge_runs(all.mollified, mollified, &WeightedStencil::stencil);
  merge_runs(all.plane, planes, [](const PlaneContact& c) { return std::pair(c.plane, c.vertex); });
  return all;
}

}  // namespace

ActiveSet find_active_set(const CollisionSurface& surface, const NearPairs& candidates, const Matrix3X& x,
                          const Team& team) {
  constexpr Index chunk = 4096;
  const Index count = Index(candidates.pairs.size());
  std::vector<Part> parts((count + chunk - 1) / chunk);
  parallel_chunks(count, chunk, [&](Index begin, Index end) {
    Part& part = parts[begin / chunk];
    const double limit = candidates.is_known() ? 1.001 * candidates.most_reach : infinity;
    for_each_nearer(candidates, limit, begin, end,
                    [&](Index c) { classify(surface, candidates, x, c, part); });
  });
  Part of_planes;
  for (Index plane = 0; plane < Index(surface.half_spaces.size()); ++plane)
    add_plane_contacts(surface, x, plane, team.share(surface.vertex_count()), of_planes);
  parts.push_back(std::move(of_planes));
  if (!team.is_alone()) parts = {joined(parts, team)};

  ActiveSet active;
  Part::Least least;
  std::size_t most = 0;
  for (const Part& part : parts) {
    least.include(part.least);
    most += part.point_point.size() + part.point_edge.size() + part.point_triangle.size() +
            part.edge_edge.size() + part.mollified.size() + part.shortened.size();
  }
  active.min_distance = std::min(std::sqrt(least.squared), least.plane_distance);
  active.min_gap = least.gap;

  active.contacts.reserve(most);
  const auto add = [&](const Stencil& stencil, double weight, double threshold) {
    const PairSettings& settings =
        surface.settings(stencil.vertices[0], stencil.vertices[first_count(stencil.kind)]);
    active.contacts.push_back(
        {stencil, weight, threshold, settings.dhat, settings.thickness, settings.stiffness_scale});
  };
  const auto add_merged = [&](PairKind kind, const auto& keys) {
    for (std::size_t i = 0, j = 0; i < keys.size(); i = j) {
      double sum = 0, size = 0;
      for (; j < keys.size() && keys[j].points == keys[i].points; ++j) {
        sum += keys[j].weight;
        size += std::abs(keys[j].weight);
      }
      if (std::abs(sum) < cancelled * size) continue;
      Stencil stencil{kind, {-1, -1, -1, -1}};
      std::copy(keys[i].points.begin(), keys[i].points.end(), stencil.vertices.begin());
      add(stencil, sum, 0);
    }
  };
  const auto add_candidates = [&](std::vector<WeightedStencil> Part::*member) {
    for (const Part& part : parts)
      for (const auto& [stencil, weight, threshold] : part.*member) add(stencil, weight, threshold);
  };
  add_merged(PairKind::point_point, sorted(parts, &Part::point_point, surface.vertex_count()));
  add_merged(PairKind::point_edge, sorted(parts, &Part::point_edge, surface.vertex_count()));
  add_candidates(&Part::point_triangle);
  add_candidates(&Part::edge_edge);
  add_candidates(&Part::mollified);
  for (const Part& part : parts)
    active.contacts.insert(active.contacts.end(), part.shortened.begin(), part.shortened.end());

  for (const Part& part : parts)
    active.plane_contacts.insert(active.plane_contacts.end(), part.plane.begin(), part.plane.end());
  return active;
}

}  // namespace apart
