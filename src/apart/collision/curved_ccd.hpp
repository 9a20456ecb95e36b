#pragma once
// Continuous collision detection of one pair whose vertices move on curves, as those of turning bodies do.
#include <apart/collision/ccd.hpp>
#include <apart/core/function_ref.hpp>

#include <vector>

namespace apart {

struct CurvedQuery {
  CcdQuery chord;                         ///< the same pair on straight lines to where the curves end
  std::array<double, 4> bend = {};        ///< ‖d²x/dt²‖ of each vertex is at most this [m]
  double rounding = 0;                    ///< how exactly `at` gives positions [m]
  FunctionRef<StencilPoints(double)> at;  ///< the vertices at t ∈ [0, 1] [m]
};

struct CurvedAnswer {
  std::optional<double> time = {};  ///< as time_of_impact answers, for the curves and for the chords below
  /// Ascending, less than `time`: the chords from one of these times to the next, from the last to any time
  /// up to the answer, and between any other times among them, keep the pair apart as the curves do.
  std::vector<double> corners = {};
  int pieces = 1;  ///< that were looked at
};

/// Asks about the chord of the whole path first, with the separation that its deviation from the curves needs
/// besides ξ. Only if that ends it, and the deviation is not small against the gap, the path is cut, at
/// multiples of powers of ½ so that many pairs have corners in common. A piece is free if the vertices stay
/// apart along the direction of the closest points at its start, for which bends count half of their second
/// order, or if the chord of a piece that deviates little is free. Otherwise it is halved.
///
/// `upper_time` hides times and corners that are not less, and changes no others.
CurvedAnswer curved_time_of_impact(const CurvedQuery& query, const CcdOptions& options = {});

/// When a distance that goes from `start` to `end` in a piece of a path falls to `level` at the earliest, as
/// a share of the piece, if its second derivative is nowhere more than `bend`; infinity: never.
double falls_to(double level, double start, double end, double bend);

}  // namespace apart
