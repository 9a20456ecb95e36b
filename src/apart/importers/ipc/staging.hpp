#pragma once
// The named scripts of the reference implementation of IPC ("script twist"): which parts are held, moved,
// pushed or thrown.
#include <apart/importers/ipc/script.hpp>

#include <map>
#include <span>

namespace apart {

/// One shape, or one copy of a matrix of shapes, in the order of the script.
struct IpcComponent {
  std::size_t shape = 0;  ///< index into IpcScript::shapes
  int dimension = 3;      ///< 3: tetrahedra, 2: triangles, 1: segments, 0: points
  Matrix3X rest;          ///< [m] placed and scaled, without rotateModel: what handles are found by
  Matrix3X start;         ///< [m] where the points start
};

/// Turns about a fixed axis through a point.
struct IpcSpin {
  Vector3 axis;    ///< unit
  double rate;     ///< [degrees/s]
  Vector3 center;  ///< [m]
  bool operator==(const IpcSpin&) const = default;
};

/// From `time` on the velocity is this.
struct IpcPiece {
  double time;       ///< [s]
  Vector3 velocity;  ///< [m/s]
  bool spins;        ///< whether the spin goes on
  bool operator==(const IpcPiece&) const = default;
};

/// A motion of piecewise constant speed.
struct IpcMovement {
  std::vector<IpcPiece> pieces;  ///< the first at time 0; empty: no motion
  std::optional<IpcSpin> spin;
  /// [m] The displacement of the spin's centre at the end of each step, if pieces do not give it.
  std::vector<Vector3> path = {};
  bool operator==(const IpcMovement&) const = default;
};

/// Points on one side of a plane: direction · x < threshold, or >.
struct IpcCut {
  Vector3 direction;
  bool below;
  double threshold;   ///< [m]
  bool rest = false;  ///< of IpcComponent::rest instead of start
};

/// Points of all components that lie in one of the intersections of half-spaces; or one single point.
struct IpcChoice {
  std::vector<std::vector<IpcCut>> any_of;
  std::optional<std::pair<std::size_t, Index>> point;  ///< component and index
};

/// Points that are held or moved until they are released.
struct IpcHandle {
  IpcChoice where;
  IpcMovement movement;
  double until = std::numeric_limits<double>::infinity();  ///< [s]
};

struct IpcPush {
  IpcChoice where;
  Vector3 acceleration;  ///< [m/s²]
};

struct IpcStaging {
  /// DBC, linearVelocity, angularVelocity, initVel and meshSeq of shapes act
  bool uses_shape_options = false;
  bool follows_folder = false;  ///< the first component without tetrahedra follows IpcScript::script_folder
  std::vector<IpcHandle> handles;
  std::vector<IpcPush> pushes;
  std::map<std::size_t, IpcMovement> components;      ///< that move as a whole
  std::map<std::size_t, IpcMovement> mesh_obstacles;  ///< by index into IpcScript::mesh_obstacles
  std::map<std::size_t, IpcMovement> half_spaces;     ///< by index into IpcScript::half_spaces
  std::map<std::size_t, Vector3> initial_velocity;    ///< [m/s] of components
  std::vector<std::string> notes;
};

/// Where the points of mesh obstacles are.
using IpcPoints = std::vector<Matrix3X>;

/// Lets the script's named script arrange the components; some lift them. Throws InputError naming the script
/// if there is none of that name, or if it asks for what a scene cannot hold.
IpcStaging stage_ipc_script(const IpcScript& script, std::vector<IpcComponent>& components,
                            const IpcPoints& mesh_obstacles);

/// Number of time steps.
Index ipc_steps(const IpcScript& script);

}  // namespace apart
