#pragma once
#include <apart/bodies/body.hpp>

namespace apart {

/// Dynamics of a body with a chart at nodes q (3 × n), in its unknowns: with J = ∂q/∂y, J ẏ is a velocity, Jᵀ
/// f a force and JᵀMJ a mass.
class ChartDynamics {
 public:
  /// `body` must have a chart and a mass.
  ChartDynamics(const Body& body, const Matrix3X& q);

  /// Jᵀ M v of a velocity of the nodes [m/s]: of a rigid body its momentum and its angular momentum / ℓ.
  VectorX momentum(const Matrix3X& v) const;
  /// The rates of the unknowns (3 × m) that have a given momentum. For the momentum of a velocity these are
  /// the rates closest to it.
  Matrix3X rates_of_momentum(const VectorX& momentum) const;
  Matrix3X rates(const Matrix3X& v) const { return rates_of_momentum(momentum(v)); }
  Matrix3X velocity(const Matrix3X& rates) const;  ///< of the nodes, J ẏ [m/s]
  /// Accelerations of the nodes by forces on them [N], for a body at rest [m/s²].
  Matrix3X acceleration(const Matrix3X& forces) const;
  /// Smallest eigenvalue of JᵀMJ in the unknowns that are free [kg].
  double least_mass() const;
  /// Accelerations of the nodes while unknowns change at constant rates: on a circle, towards its centre
  /// [m/s²].
  Matrix3X curved_acceleration(const Matrix3X& rates) const;

 private:
  VectorX solved(const VectorX& f) const;  ///< (JᵀMJ)⁻¹ f in the unknowns that are free
  const Body& body_;
  const Matrix3X q_;
  Eigen::MatrixXd slope_;  ///< J, 3n × 3m
  Eigen::MatrixXd mass_;   ///< JᵀMJ, with ones for unknowns that are not free
};

}  // namespace apart
