#pragma once
#include <apart/core/types.hpp>
#include <apart/potentials/barrier_contact.hpp>

namespace apart {

/// Bounds of the barrier stiffness.
struct StiffnessRange {
  double low = 1, high = 100;  ///< of κ at the beginning of a step
  double limit = 1e10;         ///< to which it may grow while gaps are tiny and shrink
};

/// κ_min = 10¹¹ m̄ / (4·10⁻¹⁶ ℓ² b″(10⁻⁸ℓ)) and κ_max = 100 κ_min. The thesis lets κ grow to κ_max only. Both
/// follow from masses; pressing on steel needs far more, or gaps shrink to 10⁻¹² ℓ and every step with them.
/// `size` ℓ [m], `mean_mass` m̄ of the nodes [kg].
StiffnessRange stiffness_range(double mean_mass, double size, double dhat);

/// κ for the next step if `wanted` would let contacts rest where they should (0: nothing touches). It follows
/// at once where gaps are too small and slowly where they could be smaller, by at most a factor of two per
/// step, and not at all in between, so that bodies at rest stay so. `share`: the share of a step that the
/// next part is, since κ that changes while bodies are squeezed, as in an impact resolved by many parts, adds
/// or removes energy.
double followed_stiffness(double last, double wanted, const StiffnessRange& range, double share);

/// argmin over κ of ‖g_E + κ g_c‖², held inside the range. g_c: gradient of the barrier for κ = 1.
double balanced_stiffness(const VectorX& energy_gradient, const VectorX& contact_gradient,
                          const StiffnessRange& range);

/// The contacts of vertices.
struct ContactsAt {
  const ActiveSet& active;
  const Matrix3X& x;  ///< [m]
};
/// Whether some pair has a gap below `tiny` [m] both before and after an iteration, and shrinking: then κ
/// should grow. [thesis A.6]
bool is_squeezing(const CollisionSurface& surface, const ContactsAt& before, const ContactsAt& after,
                  double tiny);

}  // namespace apart
