#include <apart/collision/ccd_methods.hpp>
#include <apart/collision/separation.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Bounds the rounding of all sums below, of x + t p to doubles included, relative to the sum of the
// coordinates' sizes.
constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();

/// Σ |coordinates|.
double total_size(const StencilPoints& x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i].lpNorm<1>();
  return sum;
}

/// Evaluations of the distance before a query is handed to Tight Inclusion. Sequences of safe steps have no
/// bound on their length; nearly all are shorter than ten.
constexpr int most_steps = 1000;

template <PairKind kind>
std::optional<double> advance(const CcdQuery& query, const CcdOptions& options) {
  constexpr int n = point_count(kind), first = first_count(kind);
  const double size_x = total_size(query.x, n), size_p = total_size(query.displacement, n);
  // |r|∞ ≤ ξ implies |r| ≤ √3 ξ.
  const double separation =
      options.norm == SeparationNorm::maximum ? query.separation * 1.7320508075688774 : query.separation;
  // Coordinates relative to the first point: exact for primitives close together, however far from the
  // origin.
  StencilPoints start, motion, now;
  for (int i = 0; i < n; ++i) {
    start[i] = query.x[i] - query.x[0];
    motion[i] = query.displacement[i] - query.displacement[0];
  }
  double t = 0, target = 0;
  for (int iteration = 0; iteration < most_steps; ++iteration) {
    for (int i = 0; i < n; ++i) now[i] = start[i] + t * motion[i];
    // Along a fixed direction the primitives are apart by a minimum of linear functions of time, which tells
    // until when they stay so. It is equation (10) of C-IPC with the vertices' approach along the
    // direction in place of norms: sliding and parting pairs are free at once, and whatever the closest
    // points really are, the bound holds.
    const Separation s = separate<kind>(now, separation);
    const double blur = separation + rounding * (size_x + t * size_p);
    const double gap = s.least - blur;
    if (iteration == 0) {
      if (!(gap > 0)) return 0;
      target = options.gap_fraction * std::min(gap, query.dhat);
    }
    if (!(gap > 0.5 * target)) return t;  // rounding has spoilt the direction: it proves nothing further
    double free_time = infinity;
    bool at_target = false;  // whether the pair of vertices that ends the step is nearly at the target
    int pair = 0;
    for (int a = 0; a < first; ++a)
      for (int b = first; b < n; ++b) {
        const double here = s.apart[pair++] - blur;
        const double closing = rounding * size_p - s.direction.dot(motion[a] - motion[b]);
        const double until = (here - target) / closing;
        if (closing > 0 && until < free_time) {
          free_time = until;
          at_target = here < 1.1 * target;
        }
      }
    const double reached = t + free_time * (1 - 1e-12);
    if (reached >= options.upper_time) return std::nullopt;
    // Done when the gap is used up, or when steps are no longer worth their evaluation; the latter within d̂
    // only, so that no pair that stays beyond bounds the step. What is returned is always the last time
    // compared with upper_time, so that a smaller upper_time hides an answer but never changes it.
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
