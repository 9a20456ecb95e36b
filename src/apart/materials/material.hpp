#pragma once
// Every material an element may be made of.
#include <apart/materials/isotropic.hpp>
#include <apart/materials/linear_elasticity.hpp>

#include <concepts>
#include <variant>

namespace apart {

using Material = std::variant<NeoHookean, FixedCorotated, StVenantKirchhoff, MooneyRivlin, LinearElasticity,
                              Orthogonality>;

/// Whether the energy is a function of singular values; if not, of F itself.
template <class M>
concept Isotropic = requires(const M& m, const Vector3& sigma) {
  { m.derivatives(sigma) } -> std::same_as<PrincipalDerivatives>;
};

/// Whether elements of this material never invert; if not, their energy is finite there and they may.
bool prevents_inversion(const Material& material);

}  // namespace apart
