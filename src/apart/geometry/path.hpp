#pragma once
#include <apart/core/types.hpp>

#include <array>
#include <span>
#include <vector>

namespace apart {

/// Where the points of a path are on their way.
class Curve {
 public:
  virtual ~Curve() = default;
  /// Some points, four at most, at t ∈ [0, 1] [m].
  virtual std::array<Vector3, 4> at(double t, std::span<const Index> points) const = 0;
};

/// How points x (3 × n) move from t = 0 to t = 1: straight, or on curves that end where the chord start + t ·
/// move does.
struct Path {
  Matrix3X start;  ///< [m]
  Matrix3X move;   ///< [m]
  /// ‖d²x/dt²‖ is nowhere more than this, for each point [m]; empty: all move straight.
  VectorX bend = {};
  double rounding = 0;           ///< how exactly curved points are known [m], also the ends of their chords
  const Curve* curve = nullptr;  ///< of the points that do not move straight; must outlive the path

  bool is_straight() const { return bend.size() == 0; }
  bool is_straight(Index point) const { return is_straight() || bend[point] == 0; }
  /// How far a point may be from the chord of a piece of the path, at the same t [m]: the chord of any part
  /// of the piece is no farther from it, since its ends are not. `length`: of the piece, 1 is all.
  double deviation(Index point, double length = 1) const {
    return is_straight(point) ? 0 : bend[point] * (length * length / 8) + rounding;
  }
  /// No point deviates farther [m].
  double largest_deviation() const { return is_straight() ? 0 : bend.maxCoeff() / 8 + rounding; }
};

/// The longest column [m].
double longest_column(const Matrix3X& m);
/// The longest column of a − b [m].
double largest_distance(const Matrix3X& a, const Matrix3X& b);

/// How far points may go on a path.
struct StepBound {
  double alpha = 1;  ///< share of the path
  /// Shares at which a curved path must be cut, ascending, less than alpha: from one to the next, and from
  /// the last to any share up to alpha, chords are as free as the path.
  std::vector<double> corners = {};
};

}  // namespace apart
