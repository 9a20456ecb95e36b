#pragma once
#include <apart/collision/ccd.hpp>

namespace apart {

class CandidateCache;

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

}  // namespace apart
