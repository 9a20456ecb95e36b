#pragma once
// Materials of the mid-surface of a shell: energy per volume, stress and tangent as functions of the
// deformation gradient F (3×2, from the plane of the rest triangle to the world). No mesh here.
//
// Everything is expressed in the frame of the singular values, F = u diag(σ) vᵀ (math/svd): F' = uᵀ F v =
// diag(σ). There a change δF' of the first two rows stays in the plane of the triangle and one of the third
// row leaves it, and no energy of FᵀF couples the two. For an isotropic energy Ψ(σ₁, σ₂) the tangent
// decouples further:
//   stretches  δF' = E₁₁, E₂₂   : the 2×2 matrix ∂²Ψ/∂σᵢ∂σⱼ
//   shear      δF' = E₁₂ + E₂₁  : eigenvalue (Ψ₁ − Ψ₂)/(σ₁ − σ₂)
//   spin       δF' = E₁₂ − E₂₁  : eigenvalue (Ψ₁ + Ψ₂)/(σ₁ + σ₂)
//   tilts      δF' = E₃ᵢ        : eigenvalues Ψᵢ/σᵢ
#include <apart/materials/isotropic.hpp>
#include <apart/math/svd.hpp>

#include <optional>
#include <string_view>
#include <variant>

namespace apart {

using Vector2 = Eigen::Vector2d;
using Matrix2 = Eigen::Matrix2d;

/// λ, μ [Pa] of a thin sheet, which is free to change its thickness (plane stress): λ = E ν/(1 − ν²). With
/// them a strip pulled along its length has Young's modulus E, as it should; with the λ of a solid it would
/// not.
Lame plane_stress_parameters(double young, double poisson);

/// First and second derivatives of Ψ(σ₁, σ₂) [Pa]; see above.
struct StretchDerivatives {
  Vector2 first;
  Matrix2 stretch;
  double shear, spin;
  Vector2 tilt;
};

/// Ψ = λ/2 tr²E + μ tr E² with Green's strain E = ½(FᵀF − I): the membrane part of Koiter's shell. [C-IPC
/// supplement eq. 16, where M = 2E in the basis of the rest edges]
struct KoiterMembrane {
  static constexpr std::string_view name = "koiter";
  Lame lame;  ///< of plane stress
  double energy(const Vector2& sigma) const;
  StretchDerivatives derivatives(const Vector2& sigma) const;
};

/// Ψ = μ/2 (σ₁² + σ₂² − 2) − μ ln J + λ/2 ln²J, J = σ₁σ₂: no triangle collapses to a line.
struct NeoHookeanMembrane {
  static constexpr std::string_view name = "neo_hookean";
  Lame lame;  ///< of plane stress
  double energy(const Vector2& sigma) const;
  StretchDerivatives derivatives(const Vector2& sigma) const;
};

/// Green's strain E₁₁, E₂₂, E₁₂ along warp (1) and weft (2), and what depends on it.
using PlaneStrain = Vector3;
struct StrainDerivatives {
  PlaneStrain first;  ///< ∂Ψ/∂E₁₁, ∂Ψ/∂E₂₂, ∂Ψ/∂E₁₂ [Pa], E₁₂ = E₂₁ counted as one variable
  Matrix3 second;
};

/// Ψ = a₁₁/2 E₁₁² + a₂₂/2 E₂₂² + a₁₂ E₁₁E₂₂ + G E₁₂²: the constants of Clyde's data; the shear modulus of
/// the sheet is G/2. [C-IPC eq. 8]
struct OrthotropicMembrane {
  static constexpr std::string_view name = "orthotropic";
  double a11 = 0, a12 = 0, a22 = 0, g12 = 0;  ///< [Pa]; a₁₁a₂₂ > a₁₂²
  double energy(const PlaneStrain& e) const;
  StrainDerivatives derivatives(const PlaneStrain& e) const;
};
/// From Young's moduli along warp and weft, the contraction ν₁₂ of the weft when the warp is pulled, and the
/// shear modulus.
OrthotropicMembrane orthotropic_membrane(double young_warp, double young_weft, double poisson_warp,
                                         double shear);

/// The same with each square and product x of strains replaced by η(x) = −m ln(1 − x/m), m its largest value:
/// infinite where |E₁₁|, |E₂₂| or |E₁₂| reaches its limit; at rest first and second derivatives are those of
/// the quadratic energy. [C-IPC 4.2]
struct BarrierMembrane {
  static constexpr std::string_view name = "barrier_orthotropic";
  OrthotropicMembrane at_rest;
  PlaneStrain limit;  ///< largest |E₁₁|, |E₂₂|, |E₁₂|, positive
  double energy(const PlaneStrain& e) const;
  StrainDerivatives derivatives(const PlaneStrain& e) const;
};

using Membrane = std::variant<KoiterMembrane, NeoHookeanMembrane, OrthotropicMembrane, BarrierMembrane>;

/// An upper and maybe a lower limit of the stretches σ, enforced by a barrier that acts beyond the thresholds
/// only: κ b(y), b = −y² ln(1 − y), y the share of the way from threshold to limit. Its first and second
/// derivatives vanish at the threshold, so that the rest state is unchanged. [C-IPC eq. 5–7]
struct StretchLimit {
  double upper = 1.1;      ///< s, greater than `threshold`
  double lower = 0;        ///< less than `threshold`; 0: none
  double threshold = 1;    ///< ŝ
  double stiffness = 1e3;  ///< κ [Pa] to begin with

  /// [Pa] with κ = 1; infinite at and beyond a limit.
  double energy(const Vector2& sigma) const;
  StretchDerivatives derivatives(const Vector2& sigma) const;
  bool allows(const Vector2& sigma) const { return sigma[0] < upper && sigma[1] > lower; }
  /// Smallest distance to a limit as a share of the way there from the threshold; 1 if none is near.
  double gap(const Vector2& sigma) const;
};

/// Second derivatives in the frame of u and v: of F'ᵢₐ and F'ⱼᵦ at (2i + α, 2j + β) in the plane, and of F'₃ₐ
/// and F'₃ᵦ out of it.
struct MembraneTangent {
  Eigen::Matrix4d in_plane;
  Matrix2 tilt;
};

// The limit, if there is one, acts with its κ = `stiffness` times one.
double membrane_energy(const Membrane& m, const StretchLimit* limit, double stiffness, const ThinSvd& f);
/// P' = ∂Ψ/∂F' (2×2; the third row is zero): the first Piola–Kirchhoff stress is u P' vᵀ [Pa].
Matrix2 membrane_stress(const Membrane& m, const StretchLimit* limit, double stiffness, const ThinSvd& f);
/// With `project`, the nearest positive semi-definite one: analytically for isotropic materials, else by
/// eigenvalues of 4×4 and 2×2 matrices.
MembraneTangent membrane_tangent(const Membrane& m, const StretchLimit* limit, double stiffness,
                                 const ThinSvd& f, bool project);

/// Strain along warp and weft of F = u diag(σ) vᵀ.
PlaneStrain green_strain(const ThinSvd& f);

/// Largest |E₁₁|, |E₂₂|, |E₁₂| that the material itself allows.
std::optional<PlaneStrain> strain_limit_of(const Membrane& m);

}  // namespace apart
