#pragma once
// Isotropic hyperelastic materials as functions of the singular values σ of F = U diag(σ) Vᵀ, where U and V
// are rotations (σ₃ carries the sign of det F). No mesh here.
//
// In the frame of U and V the tangent ∂²Ψ/∂F² decouples (thesis 2.4.3 and references there):
//   stretches  δF = E_ii, E_jj :  the 3×3 matrix ∂²Ψ/∂σᵢ∂σⱼ
//   shears     δF = E_ij + E_ji :  eigenvalue (Ψᵢ − Ψⱼ)/(σᵢ − σⱼ)
//   spins      δF = E_ij − E_ji :  eigenvalue (Ψᵢ + Ψⱼ)/(σᵢ + σⱼ)
// so it is made positive semi-definite by a 3×3 eigenvalue problem and six comparisons.
#include <apart/core/types.hpp>

#include <string_view>

namespace apart {

/// λ, μ [Pa] of Young's modulus E [Pa] and Poisson's ratio ν ∈ (−1, 0.5).
struct Lame {
  double lambda = 0, mu = 0;
};
Lame lame_parameters(double young, double poisson);

/// First and second derivatives of Ψ(σ) [Pa].
struct PrincipalDerivatives {
  Vector3 first;    ///< Ψᵢ = ∂Ψ/∂σᵢ, the principal Piola–Kirchhoff stresses
  Matrix3 stretch;  ///< ∂²Ψ/∂σᵢ∂σⱼ
  Vector3 shear;  ///< (Ψᵢ − Ψⱼ)/(σᵢ − σⱼ) for (i,j) = (0,1), (1,2), (2,0); the limit where σᵢ = σⱼ
  Vector3 spin;  ///< (Ψᵢ + Ψⱼ)/(σᵢ + σⱼ), same pairs
};

/// Ψ = μ/2 (Σσᵢ² − 3) − μ ln J + λ/2 ln²J, infinite for J ≤ 0: never inverts. [IPC §2, energy NH]
struct NeoHookean {
  static constexpr std::string_view name = "neo_hookean";
  static constexpr bool prevents_inversion = true;
  Lame lame;
  double energy(const Vector3& sigma) const;
  PrincipalDerivatives derivatives(const Vector3& sigma) const;
};

/// Ψ = μ Σ(σᵢ − 1)² + λ/2 (J − 1)², finite everywhere: may invert under extreme load. [IPC, energy FCR]
struct FixedCorotated {
  static constexpr std::string_view name = "fixed_corotated";
  static constexpr bool prevents_inversion = false;
  Lame lame;
  double energy(const Vector3& sigma) const;
  PrincipalDerivatives derivatives(const Vector3& sigma) const;
};

/// Ψ = μ ‖E‖² + λ/2 tr²E with Green's strain E = ½(FᵀF − I): Eᵢ = ½(σᵢ² − 1). Finite everywhere, and weaker
/// the more it is compressed: may invert. [St Venant–Kirchhoff]
struct StVenantKirchhoff {
  static constexpr std::string_view name = "stvk";
  static constexpr bool prevents_inversion = false;
  Lame lame;
  double energy(const Vector3& sigma) const;
  PrincipalDerivatives derivatives(const Vector3& sigma) const;
};

/// Ψ = c₁ (J^(−2/3) I₁ − 3) + c₂ (J^(−4/3) I₂ − 3) + K/4 (J² − 1 − 2 ln J), I₁ = Σσᵢ², I₂ = Σσᵢ²σⱼ² (i < j);
/// infinite for J ≤ 0: never inverts. At rest its shear modulus is μ = 2(c₁ + c₂), its bulk modulus K.
struct MooneyRivlin {
  static constexpr std::string_view name = "mooney_rivlin";
  static constexpr bool prevents_inversion = true;
  double c1 = 0, c2 = 0, bulk = 0;  ///< [Pa]; c1, c2 ≥ 0, c1 + c2 > 0, bulk > 0
  double energy(const Vector3& sigma) const;
  PrincipalDerivatives derivatives(const Vector3& sigma) const;
};
/// With λ, μ at rest, c₁ = c₂ = μ/4.
MooneyRivlin mooney_rivlin(const Lame& lame);

/// Ψ = κ (‖FᵀF − I‖² + b(J)) = κ (Σ(σᵢ² − 1)² + b(J)): zero for rotations only; the stiffness of affine
/// bodies. The first part alone would let a body that is hit hard collapse to a plane; b = −(J − ½)² ln 2J
/// for J < ½, zero beyond, does not.
struct Orthogonality {
  static constexpr std::string_view name = "orthogonality";
  static constexpr bool prevents_inversion = true;  ///< infinite for J ≤ 0
  double stiffness = 1e8;                           ///< κ [Pa]
  double energy(const Vector3& sigma) const;
  PrincipalDerivatives derivatives(const Vector3& sigma) const;
};

}  // namespace apart
