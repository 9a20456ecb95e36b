#pragma once
#include <apart/bodies/linear_map.hpp>
#include <apart/bodies/mass_distribution.hpp>

namespace apart {

/// The four nodes of a body that moves as a whole: corners c_k = centre + s e_k of a regular tetrahedron,
/// with Σ e_k = 0 and Σ e_k e_kᵀ = 4 I. Every point of the body is an affine combination of them, with
/// weights w_k(X) = 1/4 + e_k·(X − centre)/(4 s).
struct ControlTetrahedron {
  Vector3 centre = Vector3::Zero();  ///< of mass [m]
  double arm = 1;                    ///< s [m]

  /// With corners as far out as those of the bounding box of the points, or as the farthest point.
  static ControlTetrahedron around(const Matrix3X& points, const Vector3& centre_of_mass);
  static const Eigen::Matrix<double, 3, 4>& directions();  ///< e
  Matrix3X nodes() const;
  LinearMap map(const Matrix3X& points) const;  ///< from the nodes to these points
  /// M_kl = ∫ρ w_k w_l [kg]. The centre must be that of mass.
  Eigen::Matrix4d mass(const MassDistribution& of_body) const;
};

}  // namespace apart
