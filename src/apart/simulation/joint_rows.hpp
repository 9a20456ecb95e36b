#pragma once
#include <apart/potentials/joints.hpp>
#include <apart/simulation/model.hpp>

namespace apart {

/// What a coordinate of a joint is for.
enum class JointPart {
  closure,  ///< is held at zero
  cone,     ///< may not become positive
  along,    ///< how far the first body has moved along the axis [m]
  about,    ///< how far it has turned about it [rad]
  lean,     ///< of a ball: cosine of the angle between directions that agreed when it began
  turn,  ///< of a ball: how far it has turned in this step about an axis of the world [rad], for small turns
};
struct JointRow {
  JointPart part = JointPart::closure;
  JointCoordinate coordinate;
};

/// The nodes that a joint depends on, of its first body and then of its second; numbers of the model.
std::array<std::vector<Index>, 2> joint_nodes(const Model& model, const Joint& joint);

/// Where a joint is in its bodies.
struct JointPlacement {
  std::array<NodeVector, 2> pivots;  ///< of both sides, on the nodes of both
  std::vector<JointRow> rows;
};
/// `start`: where the joint's nodes (3 × n, in the order of joint_nodes) are when it begins [m].
JointPlacement place_joint(const Model& model, const Joint& joint, const Matrix3X& start);

/// What the spring, friction and damper of a ball act on. `start`, `now`: where the joint's nodes are when it
/// begins and at the start of a step [m].
std::vector<JointRow> ball_turns(const Model& model, const Joint& joint, const Matrix3X& start,
                                 const Matrix3X& now);

/// How many coordinates of each kind have a multiplier in State::joint_forces.
Index multiplier_count(const Joint& joint);
/// Of a coordinate along or about the axis: lower and upper limit, motor, friction.
inline constexpr Index freedom_multipliers = 4;

}  // namespace apart
