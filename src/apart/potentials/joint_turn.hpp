#pragma once
#include <apart/core/types.hpp>

#include <array>
#include <limits>
#include <vector>

namespace apart {

/// A vector that is linear in some nodes, Σ wₖ qₖ + constant: a material point of a body that moves as a
/// whole if the weights add up to one, a material direction if they add up to zero.
struct NodeVector {
  VectorX weights;                     ///< wₖ of each node of the coordinate
  Vector3 constant = Vector3::Zero();  ///< what belongs to the world
  bool moves() const { return !weights.isZero(0); }
  Vector3 at(const std::vector<Index>& nodes, const Matrix3X& q) const;
};

/// ∂(a·b)/∂q of vectors that are a and b now, node after node.
VectorX product_gradient(const NodeVector& u, const Vector3& a, const NodeVector& v, const Vector3& b);

/// The rotation vector w of one body against another [rad]: its direction is the axis, its length the angle
/// θ ≤ π by which directions of the two have turned away from each other that once agreed. With the
/// directions eⱼ of the first and e′ᵢ of the second body, orthonormal, and Rᵢⱼ = e′ᵢ·eⱼ:
///
///   w = φ s,    s = ½ (R₂₁ − R₁₂, R₀₂ − R₂₀, R₁₀ − R₀₁) = sin θ n,    φ = θ / sin θ, a function of tr R.
struct JointTurn {
  std::vector<Index> nodes;                 ///< distinct
  std::array<NodeVector, 3> first, second;  ///< e, e′

  Vector3 value(const Matrix3X& q) const;
  /// In the nodes, one after the other: 3n × 3.
  Eigen::Matrix<double, Eigen::Dynamic, 3> gradient(const Matrix3X& q) const;
  /// The second derivatives of f·w, added to a matrix of 3n rows.
  void add_hessian(const Matrix3X& q, const Vector3& f, Eigen::Ref<Eigen::MatrixXd> hessian) const;
};

/// How a torque f of any direction acts against a turn w: an augmented Lagrangian whose torque is bounded in
/// length,
///
///   ψ(w) = max over ‖f‖ ≤ F of f·w − ‖f − λ‖²/2k,    f = s min(1, F/‖s‖) with s = λ + k w.
///
/// It is dry friction with its multiplier, and with λ = 0 for good a spring or, over one step, a damper.
struct TurnLaw {
  double largest = std::numeric_limits<double>::infinity();  ///< F [N m]
  Vector3 multiplier = Vector3::Zero();                      ///< λ [N m], no longer than F
  double stiffness = 1;                                      ///< k [N m/rad]
  bool elastic = false;                                      ///< λ stays zero, w need not become zero

  Vector3 force(const Vector3& w) const;      ///< f = ∇ψ
  double energy(const Vector3& w) const;      ///< ψ
  Matrix3 curvature(const Vector3& w) const;  ///< ∇²ψ, positive semi-definite
  /// How far w is from where the law is content with its multiplier, ‖f − λ‖/k [rad].
  double error(const Vector3& w) const;
};

}  // namespace apart
