#pragma once
#include <apart/materials/isotropic.hpp>

namespace apart {

/// Ψ = μ ‖ε‖² + λ/2 tr²ε with the small strain ε = sym(F) − I: quadratic in F, so its tangent is constant.
/// Not a function of singular values: a rotation costs energy, and results are meaningful only while
/// rotations are small. Finite everywhere: may invert.
struct LinearElasticity {
  static constexpr std::string_view name = "linear_elasticity";
  static constexpr bool prevents_inversion = false;
  Lame lame;

  double energy(const Matrix3& f) const;

  /// ∂Ψ/∂F = 2μ ε + λ tr(ε) I [Pa].
  Matrix3 stress(const Matrix3& f) const;

  /// The tangent between the shape gradients a and b of two nodes [Pa/m²]: aᵢ ∂²Ψ/∂F∂F bⱼ. For μ > 0 and
  /// 3λ + 2μ > 0 positive semi-definite as it is.
  Matrix3 tangent(const Vector3& a, const Vector3& b) const;
};

}  // namespace apart
