#pragma once
// Materials in plates: what they do across the plane of a plate, z.
#include <apart/materials/material.hpp>
#include <apart/materials/membrane.hpp>

#include <string>

namespace apart {

enum class PlaneState {
  strain,  ///< F_zz = 1: a slice of something long, or held between walls
  stress   ///< no stress across the plane: a thin plate, which becomes thinner where it is stretched
};

/// Why there is no plane stress of a material, with a remedy, as the rest of a sentence; empty: there is.
std::string no_plane_stress(const Material& material);

/// F_zz of a cell whose deformation in the plane is `f`, with the principal stretches σ₁, σ₂ of it: 1, or
/// where ∂Ψ/∂F_zz = 0.
double stretch_across(const Material& material, PlaneState state, const Matrix2& f, const Vector2& sigma);

/// Derivatives of Ψ in σ₁ and σ₂ alone. In plane stress those of min Ψ over σ₃, where that is: ∂²Ψ/∂σᵢ∂σⱼ −
/// Ψᵢ₃Ψ₃ⱼ/Ψ₃₃.
PrincipalDerivatives in_plane(PrincipalDerivatives d, PlaneState state);
/// The material whose plane strain has the same tangent.
LinearElasticity in_plane(const LinearElasticity& material, PlaneState state);

}  // namespace apart
