#pragma once
#include <apart/collision/collision_surface.hpp>
#include <apart/geometry/squared_distance.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

namespace apart {

/// Two primitives by their vertices, first primitive first; unused entries are −1.
struct Stencil {
  PairKind kind = PairKind::point_point;
  std::array<Index, 4> vertices = {-1, -1, -1, -1};

  int size() const { return point_count(kind); }
  StencilPoints gather(const Matrix3X& x) const {
    StencilPoints p;
    for (int i = 0; i < size(); ++i) p[i] = x.col(vertices[i]);
    return p;
  }
  auto operator<=>(const Stencil&) const = default;
};

/// Where contact of one pair of primitives acts: distances in (thickness, thickness + dhat).
struct ContactRange {
  double thickness = 0;    ///< ξ [m]
  double dhat = 0;         ///< d̂ [m]
  bool shortened = false;  ///< below the settings of the bodies: neighbours in one piece
};

/// Whether ξ and d̂ of a pair may be shortened: both primitives are of one connected piece, which has a
/// thickness or no volume.
inline bool in_own_piece(const CollisionSurface& surface, const Stencil& s, const PairSettings& settings) {
  const Index a = s.vertices[0], b = s.vertices[first_count(s.kind)];
  return (settings.thickness > 0 || settings.spares_neighbours) &&
         surface.vertex_body[a] == surface.vertex_body[b] &&
         surface.vertex_piece[a] == surface.vertex_piece[b];
}
/// The range of such a pair: if its distance at the start, d₀, is less than ξ + d̂, both are scaled by
/// d₀ / 2(ξ + d̂). So a mesh with edges shorter than its thickness can start: its neighbours never touch, and
/// feel contact once they are squeezed to half of their distance at the start.
ContactRange own_range(const CollisionSurface& surface, const Stencil& s, const PairSettings& settings);
inline ContactRange contact_range(const CollisionSurface& surface, const Stencil& s) {
  const PairSettings& settings = surface.settings(s.vertices[0], s.vertices[first_count(s.kind)]);
  if (in_own_piece(surface, s, settings)) return own_range(surface, s, settings);
  return {settings.thickness, settings.dhat};
}

/// How much the distance of a pair can change at most while its vertices move by the columns of `motion` [m]:
/// what they have in common changes nothing.
inline double largest_change(const Stencil& s, const Matrix3X& motion) {
  const int first = first_count(s.kind), n = s.size();
  const Vector3 common = motion.col(s.vertices[0]);
  const auto farthest = [&](int begin, int end) {
    double squared = 0;
    for (int i = begin; i < end; ++i)
      squared = std::max(squared, (motion.col(s.vertices[std::size_t(i)]) - common).squaredNorm());
    return std::sqrt(squared);
  };
  return (first == 1 ? 0 : farthest(1, first)) + farthest(first, n);
}

/// "edge and edge", for messages.
constexpr std::string_view name_of(PairKind kind) {
  constexpr std::string_view names[] = {"point and point", "point and edge", "point and triangle",
                                        "edge and edge"};
  return names[int(kind)];
}

/// Whether some vertex of one primitive can collide with some vertex of the other. The filter must not be
/// empty.
inline bool any_can_collide(const CanCollide& can_collide, const Stencil& s) {
  for (int i = 0; i < first_count(s.kind); ++i)
    for (int j = first_count(s.kind); j < s.size(); ++j)
      if (can_collide(s.vertices[i], s.vertices[j])) return true;
  return false;
}

/// Primitive pairs that may come close, as stencils sorted by kind and vertices, each once. Pairs that share
/// a vertex, pairs of bodies whose contact is switched off and pairs that the surface's filter rejects never
/// appear. For point–triangle and edge–edge
/// the vertices are those of the face and the edges in the order the surface stores them (edge with the
/// smaller index first).
using Candidates = std::vector<Stencil>;

/// A distance [m] that two primitives provably have at least: along the vector r of the closest points found,
/// or along any other, no pair of their vertices is nearer.
double sure_distance(PairKind kind, const StencilPoints& points, const Vector3& r);
/// A lower bound as a float that is not above it, and not negative.
inline float rounded_down(double bound) {
  return float(std::max(0.0, bound)) * (1 - 1e-6f);
}

/// Candidates, and what is known of their distances at some x. Bounds hold up to rounding, which must not
/// matter.
struct NearPairs {
  NearPairs() = default;
  /// Nothing is known.
  NearPairs(const Candidates& all) : pairs(all) {}
  explicit NearPairs(std::span<const Stencil> all) : pairs(all) {}

  std::span<const Stencil> pairs;
  std::span<const float> distance;  ///< [m] of each, at most, where vertices were earlier; empty: not known
  const Matrix3X* moved = nullptr;  ///< [m] how far each vertex is from there
  double most_moved = 0;            ///< [m] the farthest
  double most_thickness = 0, most_reach = 0;  ///< ξ and ξ + d̂ of no pair are larger [m]
  /// [m] of each, at most, at x; 0: not known. Whoever finds the distance of a pair notes it here.
  std::span<float> here;

  bool is_known() const { return !distance.empty(); }
  /// [m], not more than the distance of pair i at x, without a look at its vertices.
  double distance_at_sight(Index i) const {
    if (!is_known()) return 0;
    return std::max(double(here[std::size_t(i)]), double(distance[std::size_t(i)]) - 2 * most_moved);
  }
  /// The same, with a look at how far each has moved.
  double least_distance(Index i) const {
    if (!is_known()) return 0;
    const double then = double(distance[std::size_t(i)]), now = double(here[std::size_t(i)]);
    return then > now ? std::max(now, then - largest_change(pairs[std::size_t(i)], *moved)) : now;
  }
};

}  // namespace apart
