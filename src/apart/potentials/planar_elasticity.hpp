#pragma once
#include <apart/bodies/body.hpp>
#include <apart/potentials/element_elasticity.hpp>
#include <apart/potentials/own_nodes.hpp>

namespace apart {

/// A triangle in a plane z = const: F is the same everywhere, F = [F₂ 0; 0 σ₃], where F₂ is made of x and y
/// alone and σ₃ follows from what the material does across the plane. Positions along z have no effect.
struct PlaneTriangle {
  static constexpr int node_count = 3;
  std::array<Index, 3> nodes;
  Index material = 0;
  double volume = 0;  ///< [m³] at rest: area times depth
  Matrix3 gradients;  ///< ∇N_a [1/m]; the third row is zero
  PlaneState state = PlaneState::strain;

  static constexpr int quadrature_count() { return 1; }
  double weight(int) const { return volume; }
  const Matrix3& shape_gradients(int) const { return gradients; }
};
static_assert(Element<PlaneTriangle>);

extern template class ElementElasticity<PlaneTriangle>;

/// Elasticity of triangles in a plane, kept from inverting where their material asks for it.
class PlanarElasticity final : public ElementElasticity<PlaneTriangle> {
 public:
  /// Adds the cells of a body whose nodes start at `first_node`. Keeps no reference.
  void add(const PlanarCells& cells, Index first_node, const OwnNodes& own = {});
  void hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;
  /// None of the cells of materials that must not invert does.
  StepBound feasible_step(const Path& path) const override;

 private:
  void prepare_at(const Matrix3X& q) override;

  Faces guarded_ = Faces(3, 0);
};

}  // namespace apart
