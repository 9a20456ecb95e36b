#include <apart/collision/ccd_methods.hpp>
#include <apart/collision/moving_pair.hpp>

#include <algorithm>
#include <numbers>

namespace apart {

namespace {

/// Evaluations of the distance before a query is passed to Tight Inclusion. Sequences of safe steps have no
/// bound on their length; nearly all are shorter than ten.
constexpr int most_steps = 1000;

template <PairKind kind>
std::optional<double> advance(const CcdQuery& query, const CcdOptions& options) {
  const MovingPair<kind> pair(query);
  // |r|∞ ≤ ξ implies |r| ≤ √3 ξ.
  const double separation =
      options.norm == SeparationNorm::maximum ? query.separation * std::numbers::sqrt3 : query.separation;
  double t = 0, target = 0;
  for (int iteration = 0; iteration < most_steps; ++iteration) {
    const Separation s = pair.separation(t, separation);
    const double nearest = separation + pair.blur(t), gap = s.least - nearest;
    if (iteration == 0) {
      if (!(gap > 0)) return 0;
      target = options.gap_fraction * std::min(gap, query.dhat);
    }
    if (!(gap > 0.5 * target)) return t;  // rounding has spoilt the direction: it proves nothing further
    const auto free = pair.free_time(s, nearest + target);
    const double reached = t + free.time;
    if (reached >= options.upper_time) return std::nullopt;
    // Done when the gap is used up, or when steps are too short to be worth their evaluation; the latter
    // within d̂ only, so that a pair that stays beyond d̂ never bounds the step. What is returned is always
    // the last time compared with upper_time, so that a smaller upper_time hides an answer but never changes
    // it.
    const bool at_target = free.here - nearest < 1.1 * target;
    const bool small = gap <= query.dhat && !(reached > t * (1 + 1e-4));
    t = std::max(t, reached);
    if (at_target || small) return t;
  }
  const auto other = tight_inclusion_ccd(query, options);
  return other ? std::max(t, *other) : other;
}

}  // namespace

std::optional<double> additive_ccd(const CcdQuery& query, const CcdOptions& options) {
  switch (query.kind) {
    case PairKind::point_point:
      return advance<PairKind::point_point>(query, options);
    case PairKind::point_edge:
      return advance<PairKind::point_edge>(query, options);
    case PairKind::point_triangle:
      return advance<PairKind::point_triangle>(query, options);
    case PairKind::edge_edge:
      break;
  }
  return advance<PairKind::edge_edge>(query, options);
}

}  // namespace apart
