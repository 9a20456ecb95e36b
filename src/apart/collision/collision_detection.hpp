#pragma once
// Collision detection on your own meshes, without a simulation: include this file and link Apart::collision.
// examples/library/collision_detection.cpp shows all of it. Positions are 3 × n matrices, one column a vertex
// [m]; between two of them every vertex moves straight. Answers are the same bits for any number of threads
// (apart/core/parallel.hpp sets it).
#include <apart/collision/broad_phase.hpp>
#include <apart/collision/ccd.hpp>
#include <apart/collision/collision_surface.hpp>

#include <optional>
#include <utility>

namespace apart {

/// Triangles, segments and points (vertices of neither) as one body that can collide with itself. separation
/// ξ [m]: closer than that counts as an impact. CollisionSurface::can_collide can exclude pairs. Throws
/// InputError if an index is out of range or a coordinate is not finite.
CollisionSurface collision_surface(const Matrix3X& rest, const Faces& faces,
                                   const Edges& segments = Edges(2, 0), double separation = 0);

/// All pairs of primitives that come within `radius` [m] on the way from x0 to x1, and some more.
/// Conservative in floating point. To search repeatedly, or in blocks, keep a BroadPhase.
Candidates find_candidates(const CollisionSurface& surface, const Matrix3X& x0, const Matrix3X& x1,
                           double radius = 0);

struct Impact {
  double time;   ///< in [0, 1]; before, nothing touches
  Stencil pair;  ///< what touches there, or may
  /// Index into CollisionSurface::half_spaces: then the first vertex of `pair`, a single one, touches it.
  Index half_space = -1;
};
/// Options of a query for impacts alone: Tight Inclusion, up to contact itself.
inline constexpr CcdOptions until_contact{.method = CcdMethod::tight_inclusion, .gap_fraction = 0};

/// The earliest impact on the way from x0 to x1, and the first of the pairs that have it. Never later than
/// the true one; earlier by about options.tolerance, so a miss closer than that may be reported.
std::optional<Impact> earliest_impact(const CollisionSurface& surface, const Matrix3X& x0, const Matrix3X& x1,
                                      const CcdOptions& options = until_contact);

/// Whether nothing comes closer than the separation on the way. `true` is certain.
bool is_step_free(const CollisionSurface& surface, const Matrix3X& x0, const Matrix3X& x1,
                  const CcdOptions& options = until_contact);

/// A vertex of each of two primitives that share none and intersect or touch at x; of the first such pair.
/// Exact, whatever the coordinates.
std::optional<std::pair<Index, Index>> first_intersection(const CollisionSurface& surface, const Matrix3X& x);

/// Whether there is such a pair.
bool self_intersects(const CollisionSurface& surface, const Matrix3X& x);

}  // namespace apart
