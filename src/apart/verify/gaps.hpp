#pragma once
// Distances between primitives in floating point, for finding small gaps and for guessing separating
// directions. A guess needs no guarantee; its user proves what it needs.
#include <apart/geometry/exact_intersection.hpp>

#include <optional>
#include <span>
#include <vector>

namespace apart::verify {

struct SeparatingDirections {
  Vector3 shortest;  ///< [m] from the closest point of b to that of a
  /// Of the triangle, or common to both edges, on a's side, any length; zero if there is none.
  Vector3 normal;
};
/// Of two primitives given by their corners: point–point, point–edge, point–triangle or edge–edge.
SeparatingDirections separating_directions(std::span<const Vector3> a, std::span<const Vector3> b);

/// The gaps that pairs have to keep.
struct Spacing {
  std::span<const double> margins;  ///< [m] per point, vertices of a primitive have the same; empty: no gaps
  /// [m] of a pair; at most the sum of the margins of a vertex of each primitive. Called from several
  /// threads, only if there are margins.
  FunctionRef<double(const exact::PrimitivePair&)> gap_of;
};

struct Gap {
  exact::PrimitivePair pair;
  double distance;  ///< [m]
};

/// All pairs point–face, edge–edge, point–segment and point–point that are not certain to be at least `gap`
/// apart, sorted. No pair that is closer is missed; one that is farther by a rounding error may be listed.
/// Pairs that share a vertex are left out. Every coordinate must be finite.
/// Stops early once `limit` pairs are found.
std::vector<Gap> find_gaps_below(const Matrix3X& points, const exact::Surface& surface, double gap,
                                 exact::PairFilter tested, std::size_t limit = std::size_t(-1));

/// The same with a gap for each pair, and ends of edges with segments among the pairs.
std::vector<Gap> find_gaps_below(const Matrix3X& points, const exact::Surface& surface,
                                 const Spacing& spacing, exact::PairFilter tested,
                                 std::size_t limit = std::size_t(-1));

/// The closest pair, if it is closer than `range`; of equally close ones the first.
std::optional<Gap> smallest_gap(const Matrix3X& points, const exact::Surface& surface, double range,
                                exact::PairFilter tested);

/// The length that one edge in ten falls below [m]: a search radius that finds few pairs, even where small
/// and giant triangles are mixed. For points alone, about their spacing.
double typical_length(const Matrix3X& points, const exact::Surface& surface);

/// for_each_candidate over the pairs that can come into contact: vertex–face, edge–edge, point–segment,
/// point–point. Two surfaces that do not intersect and keep these pairs apart never will. `ends_too`: also
/// the ends of edges with segments, whose distances edge–edge pairs know as well, but not pair by pair.
void for_each_contact_candidate(const exact::Surface& surface, std::span<const exact::Box> vertex_boxes,
                                exact::PairFilter tested,
                                FunctionRef<void(std::span<const exact::PrimitivePair>)> visit,
                                bool ends_too = false);

}  // namespace apart::verify
