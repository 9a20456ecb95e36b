#pragma once
#include <apart/core/types.hpp>

namespace apart {

/// How points x (3 × n) move from t = 0 to t = 1: near the chord start + t · move. Proofs that speak of the
/// chord hold for the path if they leave room for `deviation`.
struct Path {
  Matrix3X start;  ///< [m]
  Matrix3X move;   ///< [m]
  /// How far each point may be from its chord at any t, at the same t [m]; empty: all are on it.
  VectorX deviation = {};
  bool is_straight(Index point) const { return deviation.size() == 0 || deviation[point] == 0; }
};

}  // namespace apart
