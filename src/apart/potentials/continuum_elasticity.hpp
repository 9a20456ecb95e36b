#pragma once
#include <apart/bodies/body.hpp>
#include <apart/potentials/element_elasticity.hpp>
#include <apart/potentials/own_nodes.hpp>

namespace apart {

/// Elasticity of linear tetrahedra, kept from inverting where their material asks for it.
class ContinuumElasticity final : public ElementElasticity<LinearTetrahedron> {
 public:
  /// Adds the cells of a body whose nodes start at `first_node`. Keeps no reference.
  void add(const ElasticCells& cells, Index first_node, const OwnNodes& own = {});
  /// Cells of materials that must not invert.
  const Tetrahedra& guarded_cells() const { return guarded_; }
  /// None of them inverts.
  StepBound feasible_step(const Path& path) const override;

 private:
  Tetrahedra guarded_ = Tetrahedra(4, 0);
};

extern template class ElementElasticity<LinearTetrahedron>;

}  // namespace apart
