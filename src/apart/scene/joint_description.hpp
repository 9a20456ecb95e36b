#pragma once
// Joints between bodies, and what drives them: plain data, one struct for each row of the catalog's groups.
#include <apart/scene/body_description.hpp>

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace apart {

/// Angles are in degrees, their forces in N m; positions in metres, their forces in N.
template <bool is_angle>
struct MotorBase {
  static constexpr std::string_view group = is_angle ? "angle_motor" : "position_motor";
  Place place = {};
  Formula target = 0.0;           ///< key "velocity" or "position"
  std::optional<double> largest;  ///< key "max_torque" or "max_force"
};
template <bool is_angle>
struct VelocityMotor : MotorBase<is_angle> {
  static constexpr std::string_view kind = "velocity";
};
template <bool is_angle>
struct PositionMotor : MotorBase<is_angle> {
  static constexpr std::string_view kind = "position";
};
template <bool is_angle>
struct MotorKinds : Kinds<VelocityMotor<is_angle>, PositionMotor<is_angle>> {};
template <bool is_angle>
using MotorDescription = OneOf<MotorKinds<is_angle>>;

template <bool is_angle>
struct FreedomDescription {
  static constexpr std::string_view group = is_angle ? "joint_angle" : "joint_position", kind = group;
  Place place = {};
  std::optional<std::array<double, 2>> limits;
  double friction = 0;
  double stiffness = 0, rest = 0, damping = 0;
  std::optional<MotorDescription<is_angle>> motor;
};

struct JointBase : TimesDescription {
  static constexpr std::string_view group = "joint";
  std::string name;                 ///< empty: type and position
  std::vector<std::string> bodies;  ///< one: to the world
  Vector3 at = Vector3::Zero();
  std::optional<Vector3> at_second;
  bool contact = true;
  std::optional<double> breaking_force, breaking_torque;
};
/// Of a ball, about any axis.
struct BallAngleDescription {
  static constexpr std::string_view group = "ball_angle", kind = group;
  Place place = {};
  double friction = 0, stiffness = 0, damping = 0;
  bool acts() const { return friction > 0 || stiffness > 0 || damping > 0; }
};
struct BallJoint : JointBase {
  static constexpr std::string_view kind = "ball";
  BallAngleDescription angle;
  std::optional<double> cone;
  std::optional<Vector3> axis;
};
/// With an axis.
struct AxisJoint : JointBase {
  Vector3 axis = Vector3::UnitZ();
};
struct HingeJoint : AxisJoint {
  static constexpr std::string_view kind = "hinge";
  FreedomDescription<true> angle;
};
struct SliderJoint : AxisJoint {
  static constexpr std::string_view kind = "slider";
  FreedomDescription<false> position;
};
struct CylinderJoint : AxisJoint {
  static constexpr std::string_view kind = "cylinder";
  FreedomDescription<true> angle;
  FreedomDescription<false> position;
};
struct FixedJoint : JointBase {
  static constexpr std::string_view kind = "fixed";
};
struct JointKinds : Kinds<BallJoint, HingeJoint, SliderJoint, CylinderJoint, FixedJoint> {};
using JointDescription = OneOf<JointKinds>;
const JointBase& base_of(const JointDescription& joint);

}  // namespace apart
