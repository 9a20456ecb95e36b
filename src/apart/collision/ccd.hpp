#pragma once
#include <apart/collision/stencil.hpp>

#include <limits>
#include <optional>

namespace apart {

class CandidateCache;

/// Continuous collision detection of one pair: when do the primitives come too close?
struct CcdQuery {
  PairKind kind = PairKind::point_point;
  StencilPoints x;             ///< [m] at time 0
  StencilPoints displacement;  ///< [m] until time 1; vertices move straight
  double separation = 0;       ///< ξ ≥ 0 [m], minimum separation; the distance at time 0 must be larger
  double dhat = std::numeric_limits<double>::infinity();  ///< [m], see CcdOptions::gap_fraction
};

struct CcdOptions {
  double upper_time = 1;  ///< look only at times up to here
  /// s: stop when the gap (distance − ξ) has shrunk to this share of its value at time 0 (thesis A.4), or of
  /// d̂ if it was larger than d̂ at time 0. So a pair that stays out of the barrier's reach never bounds a
  /// step, and a step does not depend on which far pairs a broad phase happens to report.
  double gap_fraction = 0.2;
  int max_iterations = 10000;  ///< then the time reached so far is returned: conservative
};

/// Additive CCD [C-IPC, algorithm 1] with a sharper bound on each step. Returns a time t ≤ upper_time up
/// to which the gap stays above the share of CcdOptions, or nothing if it does until upper_time.
/// Conservative: until the returned time the distance is larger than ξ, also for vertices rounded to doubles
/// at x + t·displacement. Primitives already touching (gap ≤ rounding) and NaN or infinite input: 0.
std::optional<double> additive_ccd(const CcdQuery& query, const CcdOptions& options = {});

/// Largest α ∈ [0, upper_time] found for which x + t p, 0 ≤ t ≤ α keeps all candidate pairs apart as in
/// CcdOptions, and all vertices out of the half-spaces, with at least a tenth of the gap left (thesis A.4, c
/// = 0.9) or of d̂ if the gap is larger than d̂. The same bits for any number of threads, and for any
/// candidates that contain all pairs coming closer than ξ + d̂ on the path.
double collision_free_step(const CollisionSurface& surface, const Candidates& candidates, const Matrix3X& x,
                           const Matrix3X& p, const CcdOptions& options = {});

/// The same, with the candidates taken from a cache in the cheapest way: the pairs around x first, and the
/// whole path only up to the time they leave open. For absurdly long p, whose path would meet more pairs than
/// can be listed, only a part of the path is searched and α ends there.
double collision_free_step(const CollisionSurface& surface, CandidateCache& cache, const Matrix3X& x,
                           const Matrix3X& p, const CcdOptions& options = {});

/// Largest α ∈ [0, 1] found such that on the whole path x + t p, 0 ≤ t ≤ α, every tetrahedron keeps the share
/// 1 − shrink of its volume (thesis A.4, c = 0.8). Conservative; the volumes at x + α p, rounded, are
/// verified to be positive. 0 if a tetrahedron has no positive volume at x, or for NaN or infinite input.
double inversion_free_step(const Tetrahedra& tetrahedra, const Matrix3X& x, const Matrix3X& p,
                           double shrink = 0.8);

}  // namespace apart
