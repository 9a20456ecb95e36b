#pragma once
#include <apart/core/types.hpp>

namespace apart {

/// What changes in time. The same bits from here give the same bits later, and the same frame now.
struct State {
  Index step = 0;
  double time = 0;             ///< [s]
  Matrix3X nodes;              ///< q [m]
  Matrix3X velocity;           ///< [m/s]
  Matrix3X acceleration;       ///< [m/s²] of the last step; before the first, of the forces at the start
  Matrix3X mean_acceleration;  ///< [m/s²] that position and velocity of the last step follow; see TimeStep
  Matrix3X previous_nodes;     ///< of the step before; like `nodes` at the start [m]
  Matrix3X previous_velocity;  ///< [m/s]
  Matrix3X anchors;            ///< where nodes were when a script that began late took hold of them [m]
  Matrix3X friction;           ///< force on each collision vertex in the last step [N]; empty: none yet
  VectorX grips;               ///< of contacts with friction, packed; empty: none
  VectorX limit_stiffness;     ///< κ of each body's strain limit in the last step [Pa]; empty: none yet
  /// Of each body: steps that it has been at rest, up to those after which it sleeps; empty: none.
  VectorX rest;
  double rest_stiffness = 0;  ///< κ / force_scale when bodies that sleep came to rest; 0: none sleeps
  VectorX joint_forces;    ///< multipliers of all joints [N, N m]; like the others of joints empty: none yet
  VectorX joint_angles;    ///< of each joint about its axis, with whole turns [rad]
  VectorX joint_broken;    ///< of each joint: 1 if it has broken, else 0
  Matrix3X joint_anchors;  ///< where nodes of joints that begin late were when they began [m]
  double barrier_stiffness = 0;  ///< κ of the last solve; 0: none yet
  double step_length = 0;        ///< [s] from previous_nodes to nodes; 0: no step yet
  double force_scale = 0;        ///< [s²] by which energies were multiplied in that solve; 0: none yet
};

/// The one list of a state's members: calls f(name, member of each of `states`...) for each member.
/// Checkpoints and comparisons iterate it, so that none of them can forget a member.
template <class F, class... States>
void for_each_member(F&& f, States&... states) {
  f("step", states.step...);
  f("time", states.time...);
  f("nodes", states.nodes...);
  f("velocity", states.velocity...);
  f("acceleration", states.acceleration...);
  f("mean_acceleration", states.mean_acceleration...);
  f("previous_nodes", states.previous_nodes...);
  f("previous_velocity", states.previous_velocity...);
  f("anchors", states.anchors...);
  f("friction", states.friction...);
  f("grips", states.grips...);
  f("limit_stiffness", states.limit_stiffness...);
  f("rest", states.rest...);
  f("rest_stiffness", states.rest_stiffness...);
  f("joint_forces", states.joint_forces...);
  f("joint_angles", states.joint_angles...);
  f("joint_broken", states.joint_broken...);
  f("joint_anchors", states.joint_anchors...);
  f("barrier_stiffness", states.barrier_stiffness...);
  f("step_length", states.step_length...);
  f("force_scale", states.force_scale...);
}

/// Whether all but step and time are the same.
bool is_unchanged(const State& before, const State& after);

}  // namespace apart
