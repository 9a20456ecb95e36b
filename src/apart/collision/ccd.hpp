#pragma once
#include <apart/collision/stencil.hpp>

#include <optional>

namespace apart {

/// Continuous collision detection of one pair: when do the primitives come too close?
struct CcdQuery {
  PairKind kind = PairKind::point_point;
  StencilPoints x;             ///< [m] at time 0
  StencilPoints displacement;  ///< [m] until time 1; vertices move straight
  double separation = 0;       ///< ξ ≥ 0 [m], minimum separation; the distance at time 0 must be larger
};

struct CcdOptions {
  double upper_time = 1;      ///< look only at times up to here
  double gap_fraction = 0.2;  ///< s: stop when the gap has shrunk to this share of its value at time 0 (thesis A.4)
  int max_iterations = 10000; ///< then the time reached so far is returned: conservative
};

/// Additive CCD [seed 000, algorithm 1]. Returns a time t ≤ upper_time up to which the gap stays above
/// gap_fraction · initial gap (minus rounding, never touching), or nothing if the path is free until upper_time.
/// Conservative: never later than the true time. Primitives already touching (gap ≤ 0) or NaN or infinite input: 0.
std::optional<double> additive_ccd(const CcdQuery& query, const CcdOptions& options = {});

/// Largest α ∈ [0, 1] such that x + t p, 0 ≤ t ≤ α keeps all candidate pairs and all half-spaces apart, shrunk as in
/// CcdOptions. The same for any number of threads.
double collision_free_step(const CollisionSurface& surface, const Candidates& candidates, const Matrix3X& x,
                           const Matrix3X& p, const CcdOptions& options = {});

/// Largest α ∈ [0, 1] for which no tetrahedron loses more than the share `keep` … of its volume: the smallest positive
/// root of V(x + α p) = (1 − shrink) V(x), computed conservatively; V(x) > 0 is required. (thesis A.4, c = 0.8)
double inversion_free_step(const Tetrahedra& tetrahedra, const Matrix3X& x, const Matrix3X& p, double shrink = 0.8);

}  // namespace apart
