#pragma once
#include <apart/core/types.hpp>

#include <Eigen/SparseCore>

namespace apart {

/// The rigid motion that has the momentum and the angular momentum of given velocities of nodes.
class RigidVelocity {
 public:
  /// `mass`: node × node [kg]; q, v: of the nodes, 3 × n [m], [m/s].
  RigidVelocity(const Eigen::SparseMatrix<double>& mass, const Matrix3X& q, const Matrix3X& v);

  Matrix3X velocities(const Matrix3X& q) const;  ///< of nodes at q [m/s]
  /// How far nodes at q move in `time` [s], on circles [m].
  Matrix3X displacements(const Matrix3X& q, double time) const;

 private:
  Vector3 centre_ = Vector3::Zero();   ///< of mass [m]
  Vector3 linear_ = Vector3::Zero();   ///< of the centre [m/s]
  Vector3 angular_ = Vector3::Zero();  ///< [rad/s]
};

}  // namespace apart
