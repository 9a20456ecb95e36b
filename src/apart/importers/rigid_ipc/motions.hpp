#pragma once
// How kinematic bodies move. For the files of this folder only.
#include <apart/bodies/mass_distribution.hpp>
#include <apart/core/function_ref.hpp>
#include <apart/importers/rigid_ipc/fixture.hpp>
#include <apart/scene/body_description.hpp>

#include <string_view>

namespace apart::rigid_ipc {

struct Script {
  const FixtureBody& body;
  Vector3 velocity, spin;  ///< [m/s], [degrees/s]
  MassDistribution mass;   ///< as placed
  double dt;
  Index steps;
  bool plane = false;  ///< of the plane (2D)
};

/// Poses, one per step, then velocities, until they end. Empty if the body stands still.
std::optional<MotionDescription> make_motion(const Script& script, FunctionRef<void(std::string_view)> note);

}  // namespace apart::rigid_ipc
