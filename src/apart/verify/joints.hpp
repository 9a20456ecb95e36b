#pragma once
// Whether joints are closed, from frames and what the scene says of its joints.
#include <apart/verify/finding.hpp>

#include <apart/io/frame.hpp>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace apart::verify {

/// A joint as the scene has it; places and directions in the initial placement.
struct JointClaim {
  enum class Kind { ball, hinge, slider, cylinder, fixed };
  struct Side {
    int body = -1;                    ///< −1: the world
    Vector3 pivot = Vector3::Zero();  ///< [m]
    /// Of a body that does not move as a whole: the pivot is the mean of these points of a frame.
    std::vector<Index> points = {};
    VectorX weights = {};
  };
  std::string name;
  Kind kind = Kind::ball;
  std::array<Side, 2> sides;
  Vector3 axis = Vector3::UnitZ();
  double arm = 1;  ///< [m] half the size of the smaller body
  /// It begins after the start, with the bodies as they are then: pivot and axis are where the first body has
  /// carried them.
  bool begins_late = false;
  std::function<bool(Index step)> acts;  ///< at the end of a step
  /// When meshes change, points of the first mesh may be removed, so that `points` are known of that alone.
  bool points_may_go = false;
};

/// Joints that cannot break, and whether they are closed at the end of steps. The solver keeps each
/// coordinate of a joint to 1e-6 of the size of the smaller body; the distance of points is at most four
/// times that.
class JointCheck {
 public:
  JointCheck() = default;
  /// `start`: the state before the first step.
  JointCheck(std::vector<JointClaim> claims, const Frame& start);

  /// Those that are open at the end of a step. A joint that begins late is compared with the first state in
  /// which it acts; states must be given in the order of time.
  std::vector<Finding> open(const Matrix3X& points, Index step, const std::vector<int>& absent);
  Index count() const { return Index(joints_.size()); }

  /// The points of the first mesh where they are in a frame of another: meshes that change number the points
  /// of each body in the order of their creation. None if some have been removed, or may have been and others
  /// been created instead.
  std::optional<Matrix3X> first_points(const Frame& frame) const;

 private:
  /// A point that a body carries along: a sum of some of its points, and a multiple of their normal.
  struct Carried {
    std::vector<std::pair<Index, double>> points = {};
    Vector3 constant = Vector3::Zero();  ///< [m], of the world
    std::array<Index, 3> plane = {};     ///< of the normal
    double normal = 0;                   ///< [m]
    Vector3 at(const Matrix3X& x) const;
  };
  /// What has to vanish: a sum of such points, but for its part along a line.
  struct Closure {
    std::vector<std::pair<double, Carried>> sum;
    std::optional<std::array<Carried, 2>> line = {};
    double off(const Matrix3X& x) const;
  };
  /// The points of a body that determine where the others are.
  struct Corners {
    std::array<Index, 4> points;
    bool is_rigid;
  };
  struct Joint {
    JointClaim claim;
    std::optional<std::vector<Closure>> closures;  ///< unknown before a late one begins
  };
  std::optional<Carried> carried(const JointClaim::Side& side, const Vector3& place, const Matrix3X& x) const;
  std::vector<Closure> closures(const JointClaim& claim, const Matrix3X& x) const;
  std::vector<Closure> late_closures(JointClaim claim, const Matrix3X& x) const;

  Matrix3X start_;
  std::vector<std::vector<Index>> points_;  ///< of each body, ascending
  std::vector<std::string> names_;
  std::vector<std::optional<Corners>> corners_;  ///< by body
  std::vector<Joint> joints_;
};

}  // namespace apart::verify
