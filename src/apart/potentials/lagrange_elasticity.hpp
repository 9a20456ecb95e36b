#pragma once
#include <apart/basis/jacobian_bound.hpp>
#include <apart/bodies/body.hpp>
#include <apart/potentials/element_elasticity.hpp>

namespace apart {

/// Tetrahedron of degree p, straight or curved, with any number of quadrature points.
template <int degree>
struct LagrangeElement {
  static constexpr int node_count = tetrahedron_lattice_size(degree);
  using Gradients = Eigen::Matrix<double, 3, node_count>;
  std::array<Index, std::size_t(node_count)> nodes;
  Index material = 0;
  std::vector<double> weights;       ///< [m³] of each quadrature point
  std::vector<Gradients> gradients;  ///< ∇N_a [1/m] at each

  int quadrature_count() const { return int(weights.size()); }
  double weight(int k) const { return weights[std::size_t(k)]; }
  const Gradients& shape_gradients(int k) const { return gradients[std::size_t(k)]; }
};

/// Elasticity of tetrahedra of a degree above one. Where their material asks for it they are kept from
/// inverting anywhere, not only at quadrature points (basis/jacobian_bound).
template <int degree>
class LagrangeElasticity final : public ElementElasticity<LagrangeElement<degree>> {
 public:
  LagrangeElasticity() : bound_(degree) {}
  /// Adds the cells of a body whose nodes start at `first_node`. Keeps no reference.
  void add(const ElasticCells& cells, Index first_node);
  StepBound feasible_step(const Path& path) const override;

 private:
  JacobianBound bound_;
  std::vector<Index> guarded_;  ///< elements of materials that must not invert
};

extern template class LagrangeElasticity<2>;
extern template class LagrangeElasticity<3>;
extern template class LagrangeElasticity<4>;

}  // namespace apart
