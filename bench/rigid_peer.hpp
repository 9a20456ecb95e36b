#pragma once
// Rigid bodies of another library, to compare ours with.
#include <apart/core/types.hpp>

#include <memory>
#include <vector>

namespace apart::bench {

struct PeerBody {
  Matrix3X points;                                 ///< [m], world, at the start
  Faces faces;                                     ///< of points
  double mass = 0;                                 ///< [kg]; 0: does not move
  Vector3 centre = {0, 0, 0};                      ///< of mass [m]
  Matrix3 inertia = {};                            ///< about the centre, world axes [kg m²]
  Vector3 velocity = {0, 0, 0}, spin = {0, 0, 0};  ///< [m/s], [rad/s]
};

struct PeerScene {
  std::vector<PeerBody> bodies;
  Vector3 gravity = {0, 0, 0};  ///< [m/s²]
  double friction = 0;          ///< μ of all pairs
  double margin = 1e-3;         ///< [m] around shapes
};

class RigidPeer {
 public:
  virtual ~RigidPeer() = default;
  virtual void step(double dt) = 0;                     ///< [s]
  virtual Matrix3X points(std::size_t body) const = 0;  ///< [m], world
};

/// Pieces that are convex as their hulls, others as meshes (GImpact); null if built without Bullet.
std::unique_ptr<RigidPeer> make_bullet(const PeerScene& scene);

}  // namespace apart::bench
