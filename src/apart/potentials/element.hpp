#pragma once
#include <apart/core/types.hpp>

#include <array>
#include <concepts>

namespace apart {

/// A piece of a solid: nodes, points at which its energy density is summed, and the map to its rest shape
/// there. With shape functions N_a the deformation gradient at quadrature point k is F = Σ q_a ∇N_a(k)ᵀ, and
/// the energy of the element Σ weight(k) Ψ(F). An element with `offset_gradients`, one matrix for each point
/// if there are any, adds these to F.
template <class E>
concept Element = requires(const E& e, int k) {
  { E::node_count } -> std::convertible_to<int>;
  { e.quadrature_count() } -> std::convertible_to<int>;
  { e.nodes } -> std::convertible_to<std::array<Index, std::size_t(E::node_count)>>;
  { e.material } -> std::convertible_to<Index>;    // one of the potential's
  { e.weight(k) } -> std::convertible_to<double>;  // [m³] at rest that point k stands for
  { e.shape_gradients(k) } -> std::convertible_to<Eigen::Matrix<double, 3, E::node_count>>;  // ∇N_a [1/m]
};

/// F is the same everywhere: one quadrature point.
struct LinearTetrahedron {
  static constexpr int node_count = 4;
  std::array<Index, 4> nodes;
  Index material = 0;
  double volume = 0;  ///< [m³] at rest
  Eigen::Matrix<double, 3, 4> gradients;

  static constexpr int quadrature_count() { return 1; }
  double weight(int) const { return volume; }
  const Eigen::Matrix<double, 3, 4>& shape_gradients(int) const { return gradients; }
};
static_assert(Element<LinearTetrahedron>);

}  // namespace apart
