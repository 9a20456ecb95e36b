#pragma once
#include <apart/core/types.hpp>

#include <array>

namespace apart {

/// Angle θ ∈ (−π, π] between two triangles that share the edge x₀x₁ and have x₂ and x₃ as third corners: 0 if
/// they lie flat side by side, ±π if folded onto each other. 0 if one of them has no area.
double dihedral_angle(const std::array<Vector3, 4>& x);

/// The angle, and all its first and second derivatives are made of. Both triangles turn about the edge by
/// φ, dφ = Σ cⱼ n̂·δxⱼ over the ends of the edge and the third corner, and θ = φ₂ − φ₁. Second derivatives of
/// each are two products of a form of displacements out of its plane and one of displacements in it,
///   d²φ = 2 (Σ cⱼ n̂·δxⱼ)(Σ cⱼ t̂·δxⱼ) + 2 (Σ pⱼ n̂·δxⱼ)(Σ (½ pⱼ t̂ − cⱼ ê)·δxⱼ),
/// p = (−1, 1, 0)/L: turning and twisting. Only 1/height of the triangles makes them large; a triangle
/// without area is skipped.
struct Dihedral {
  using Form = Eigen::Matrix<double, 12, 1>;                     ///< three numbers per point
  struct Wing {                                                  ///< one of the triangles
    Vector3 normal = Vector3::Zero(), across = Vector3::Zero();  ///< n̂, t̂ = ê × n̂
    std::array<double, 3> c = {0, 0, 0};                         ///< [1/m] of x₀, x₁ and the third corner
    bool has_area = false;
  };
  double angle = 0;
  Vector3 along = Vector3::Zero();  ///< ê
  double inverse_length = 0;        ///< 1/L [1/m]
  std::array<Wing, 2> wings;
  static constexpr double sign[2] = {-1, 1};  ///< of the wings in θ

  /// ∂θ/∂(point k).
  Vector3 gradient(int k) const;
  Eigen::Matrix<double, 12, 12> hessian() const;
};
Dihedral make_dihedral(const std::array<Vector3, 4>& x);

}  // namespace apart
