#pragma once
#include <apart/collision/ccd.hpp>
#include <apart/geometry/path.hpp>

#include <span>

namespace apart {

class CandidateCache;

/// Largest α ∈ [0, min(upper_time, 1)] found for which a path, 0 ≤ t ≤ α, keeps all candidate pairs apart as
/// in CcdOptions, and all vertices out of the half-spaces, with at least a tenth of the gap left (thesis A.4,
/// c = 0.9) or of d̂ if the gap is larger than d̂. Where points move on curves, pairs that need it cut them,
/// each at its own times (curved_ccd.hpp): the chords between all these corners keep all pairs apart, since
/// every one lies in a single piece of every pair. The same bits for any number of threads, and for any
/// candidates that contain all pairs whose chords come closer than ξ + d̂ and the deviations of their points.
/// 0 if a number is not finite.
StepBound collision_free_step(const CollisionSurface& surface, std::span<const Stencil> candidates,
                              const Path& path, const CcdOptions& options = {});

/// The same over all pairs of the surface, for Euclidean separations, with candidates from a cache, used as
/// its options say:
///
/// * near_first: the pairs around x that the cache holds, and others only up to the time these leave open;
/// * cfl: the pairs in reach at x give α_Ĉ; no other pair can come to the gap where CCD stops before α_F =
///   0.9 (1 − s) d̂ / (2 max |pᵢ|). If α_F is less than half of α_Ĉ, all pairs up to α_Ĉ are tested,
///   otherwise the smaller of the two is the answer [thesis A.3]: at least half of what the others answer;
/// * none: all pairs up to upper_time.
///
/// Where a path has more pairs than a block of the cache holds, it is tested block by block, and cut where
/// the pairs seen so far end it. The result does not depend on earlier queries of the cache, nor on the size
/// of blocks, nor on `reuse`.
StepBound collision_free_step(const CollisionSurface& surface, CandidateCache& cache, const Path& path,
                              const CcdOptions& options = {});

}  // namespace apart
