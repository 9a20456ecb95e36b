#pragma once
// Continuous collision detection of one pair: when do two primitives come too close while their vertices move
// along straight lines? Two methods answer the same query. Both are conservative: they may answer too early,
// never too late.
#include <apart/collision/stencil.hpp>

#include <limits>
#include <optional>

namespace apart {

struct CcdQuery {
  PairKind kind = PairKind::point_point;
  StencilPoints x;             ///< [m] at time 0
  StencilPoints displacement;  ///< [m] until time 1
  double separation = 0;       ///< ξ ≥ 0 [m], minimum separation; the distance at time 0 must be larger
  double dhat = std::numeric_limits<double>::infinity();  ///< [m], see CcdOptions::gap_fraction
};

enum class CcdMethod { additive, tight_inclusion };

/// How a separation is measured: as a distance, or as the largest difference of coordinates (thesis §3.6).
enum class SeparationNorm { euclidean, maximum };

struct CcdOptions {
  CcdMethod method = CcdMethod::additive;
  double upper_time = 1;  ///< times up to here, and up to 1, are examined
  /// s: stop when the gap (distance − ξ) has shrunk to this share of its value at time 0 (thesis A.4), or of
  /// d̂ if it was larger than d̂ at time 0. So a pair that stays out of the barrier's reach never bounds a
  /// step, and a step does not depend on which far pairs a broad phase happens to report. 0: until ξ itself.
  double gap_fraction = 0.2;
  /// δ [m] of Tight Inclusion: a box of this size that may touch counts as touching
  double tolerance = 1e-6;
  /// Boxes that Tight Inclusion examines; after that the earliest time not yet excluded is the answer.
  int max_iterations = 1'000'000;
  SeparationNorm norm = SeparationNorm::euclidean;
};

/// A time t < upper_time up to which the gap stays above the share of CcdOptions, or nothing if it does until
/// upper_time. Conservative: before the returned time the distance is larger than ξ, also for vertices
/// rounded to doubles at x + t·displacement, and also on the path to x₁ if displacement is x₁ − x rounded. A
/// smaller upper_time hides an answer but never changes it. Primitives already closer than ξ + rounding, all
/// points in one place, and invalid input (NaN, infinite, ξ < 0, d̂ ≤ 0, gap_fraction outside [0, 1)): 0.
std::optional<double> time_of_impact(const CcdQuery& query, const CcdOptions& options = {});

}  // namespace apart
