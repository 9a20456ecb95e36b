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

/// How far the first body of a ball joint has turned against the second since its nodes were at `start` [m],
/// in the axes of the world. Both are the world or move as a whole.
JointTurn joint_turn(const Model& model, const Joint& joint, const Matrix3X& start);

/// How many coordinates of each kind have a multiplier in State::joint_forces.
Index multiplier_count(const Joint& joint);
/// Of a coordinate along or about the axis: lower and upper limit, motor, friction.
inline constexpr Index freedom_multipliers = 4;

}  // namespace apart
