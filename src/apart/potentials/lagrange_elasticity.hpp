#pragma once
#include <apart/basis/jacobian_bound.hpp>
#include <apart/bodies/body.hpp>
#include <apart/potentials/element_elasticity.hpp>

#include <map>

namespace apart {

/// Tetrahedron with displacements of degree p, straight or curved, with any number of quadrature points.
template <int degree>
struct LagrangeElement {
  static constexpr int node_count = tetrahedron_lattice_size(degree);
  using Gradients = Eigen::Matrix<double, 3, node_count>;
  std::array<Index, std::size_t(node_count)> nodes;
  Index material = 0;
  std::vector<double> weights;          ///< [m³] of each quadrature point
  std::vector<Gradients> gradients;     ///< ∇N_a [1/m] at each
  std::vector<Matrix3> left_gradients;  ///< see LagrangeCells; empty: zero

  int quadrature_count() const { return int(weights.size()); }
  double weight(int k) const { return weights[std::size_t(k)]; }
  const Gradients& shape_gradients(int k) const { return gradients[std::size_t(k)]; }
};

/// Elasticity of tetrahedra of a degree above one, or of curved ones with displacements of degree one. Where
/// their material asks for it they are kept from inverting anywhere, not only at quadrature points
/// (basis/jacobian_bound).
template <int degree>
class LagrangeElasticity final : public ElementElasticity<LagrangeElement<degree>> {
 public:
  /// Adds the cells of a body whose nodes start at `first_node`. Keeps no reference.
  void add(const ElasticCells& cells, Index first_node);
  StepBound feasible_step(const Path& path) const override;
  /// Sums the energy at more points in elements that, at these nodes, are far more compressed somewhere than
  /// at the points they have: their material would not resist there, and steps would end at feasible_step
  /// again and again. At fewer in others, down to those they began with. What it does follows from q alone.
  void refine(const Matrix3X& q);

 private:
  /// An element of a material that must not invert.
  struct Guarded {
    Index element;
    int shape_degree;
    Matrix3X rest, left;             ///< on the lattice of that degree, see LagrangeCells; x₀ empty: zero
    LagrangeElement<degree> coarse;  ///< as it was added
    int exact;                       ///< see LagrangeCells
    double rest_determinant = 0;     ///< a bound on that of its shape at rest, from above
    int level = 0;                   ///< how often its quadrature is refined
  };
  Matrix3X nodes_of(const Guarded& guarded, const Matrix3X& q) const;
  /// Where the lattice of an element is, from its nodes.
  Matrix3X placed(const Guarded& guarded, const Matrix3X& nodes) const;
  int wanted_level(const Guarded& guarded, const Matrix3X& nodes) const;
  LagrangeElement<degree> refined_element(const Guarded& guarded, int level) const;
  /// Lattice of the shape of an element, from its nodes or motions of them.
  Matrix3X on_shape(const Guarded& guarded, const Matrix3X& nodes) const;
  const JacobianBound& bound(const Guarded& guarded) const { return bounds_.at(guarded.shape_degree); }

  std::vector<Guarded> guarded_;
  std::map<int, JacobianBound> bounds_;    ///< by degree of the shape
  std::map<int, Eigen::MatrixXd> values_;  ///< by degree of the shape, of each N_a on its lattice
};

extern template class LagrangeElasticity<1>;
extern template class LagrangeElasticity<2>;
extern template class LagrangeElasticity<3>;
extern template class LagrangeElasticity<4>;

}  // namespace apart
