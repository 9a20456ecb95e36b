#pragma once
#include <apart/geometry/mesh.hpp>

namespace apart {

/// Mass, centre of mass and second moments.
struct MassDistribution {
  double mass = 0;                          ///< [kg]
  Vector3 centre = Vector3::Zero();         ///< [m]
  Matrix3 second_moment = Matrix3::Zero();  ///< S = ∫ρ (x − c)(x − c)ᵀ [kg m²]

  Matrix3 inertia() const;  ///< ∫ρ (‖r‖² I − r rᵀ) [kg m²], r = x − c
};

/// Of a mesh of uniform density. What the density is per follows from the topology of each connected piece:
/// tetrahedra and closed surfaces have a volume [kg/m³], open sheets an area [kg/m²], free segments a length
/// [kg/m]; free points have this mass each [kg]. A closed surface that faces inward is a cavity.
MassDistribution mass_distribution(const Mesh& mesh, double density);

/// The inertia tensor of a body with this second moment S: tr(S) I − S [kg m²].
Matrix3 inertia_of(const Matrix3& second_moment);
/// S of a body with this inertia tensor: ½ tr(I) − I.
Matrix3 second_moment_of(const Matrix3& inertia);

}  // namespace apart
