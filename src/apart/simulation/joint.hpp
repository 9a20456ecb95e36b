#pragma once
#include <apart/bodies/body.hpp>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace apart {

/// What a joint leaves free: ball, all turns; hinge, turns about its axis; slider, motion along its axis;
/// cylinder, both; fixed, nothing.
enum class JointKind { ball, hinge, slider, cylinder, fixed };

/// What acts in one freedom of a joint: along its axis [m, N] or about it [rad, N m].
struct JointFreedom {
  double lower = -infinity, upper = infinity;  ///< limits
  double friction = 0;                         ///< largest force of dry friction
  double stiffness = 0, rest = 0;              ///< of a spring, and where it is relaxed
  double damping = 0;                          ///< force per speed
  struct Motor {
    bool drives_speed = false;                  ///< the target is a speed, else a position
    std::function<double(double time)> target;  ///< at a time [s]
    double largest_force = infinity;
  };
  std::optional<Motor> motor = {};
};

/// The material point of a body that a joint holds.
struct JointSide {
  int body = -1;                    ///< −1: the world
  Vector3 pivot = Vector3::Zero();  ///< [m], world, in the initial placement
  /// Of a body that does not move as a whole: the pivot is the mean of these mesh points with these weights.
  PointSet points;
  VectorX weights;
};

/// Holds a point of one body to a point of another, or of the world, and the body's orientation as far as the
/// kind says. What moves is the first body; positions and angles are those of the first body relative to the
/// second, zero when the joint begins. One that begins late takes the bodies as they are then: pivot and axis
/// are where the first body has carried them.
struct Joint {
  std::string name;
  JointKind kind = JointKind::ball;
  std::array<JointSide, 2> sides;
  Vector3 axis = Vector3::UnitZ();  ///< unit vector, world, in the initial placement
  /// [m] From the pivot to the points that hold the orientation: an error there of the tolerance is one of
  /// `accuracy` in radians.
  double arm = 1;
  /// Of the axis; those the kind does not leave free are not read. A ball turns about any axis, with
  /// friction, spring and damper alone.
  JointFreedom along, about;
  std::optional<double> cone;        ///< of a ball: largest angle between the axes of the two [rad]
  double largest_force = infinity;   ///< [N] beyond which it breaks
  double largest_torque = infinity;  ///< [N m], about the pivot
  TimeRange when;

  bool begins_late() const { return when.from > 0; }
  bool slides() const { return kind == JointKind::slider || kind == JointKind::cylinder; }
  bool turns() const { return kind == JointKind::hinge || kind == JointKind::cylinder; }
};

/// Largest error of a joint in its own size, and of its angles [rad].
inline constexpr double joint_accuracy = 1e-6;

}  // namespace apart
