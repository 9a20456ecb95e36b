#pragma once
#include <apart/basis/jacobian_bound.hpp>
#include <apart/bodies/body.hpp>
#include <apart/potentials/determinant_barrier.hpp>
#include <apart/potentials/element_elasticity.hpp>
#include <apart/potentials/own_nodes.hpp>

#include <map>

namespace apart {

/// Tetrahedron with displacements of degree p, straight or curved, with any number of quadrature points.
template <int degree>
struct LagrangeElement {
  static constexpr int node_count = tetrahedron_lattice_size(degree);
  using Gradients = Eigen::Matrix<double, 3, node_count>;
  std::array<Index, std::size_t(node_count)> nodes;
  Index material = 0;
  std::vector<double> weights;            ///< [m³] of each quadrature point
  std::vector<Gradients> gradients;       ///< ∇N_a [1/m] at each
  std::vector<Matrix3> offset_gradients;  ///< ∇x₀ at each, see LagrangeCells; empty: zero

  int quadrature_count() const { return int(weights.size()); }
  double weight(int k) const { return weights[std::size_t(k)]; }
  const Gradients& shape_gradients(int k) const { return gradients[std::size_t(k)]; }
};

enum class Guard { none, inversion };

/// Elasticity of tetrahedra of a degree above one, or of curved ones with displacements of degree one. Where
/// their material asks for it they are kept from inverting anywhere, not only at quadrature points
/// (basis/jacobian_bound).
template <int degree>
class LagrangeElasticity final : public ElementElasticity<LagrangeElement<degree>> {
 public:
  /// Adds the cells of a body whose nodes start at `first_node`. Keeps no reference. `guard`: whether steps
  /// are to be bounded; what it takes costs as much as a bound of each cell.
  void add(const ElasticCells& cells, Index first_node, Guard guard = Guard::inversion,
           const OwnNodes& own = {});
  double value(const Matrix3X& q) const override;
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const override;
  void hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;
  StepBound feasible_step(const Path& path) const override;
  /// Sums the energy at more points in elements that, at these nodes, are far more compressed somewhere than
  /// at the points they have: their material would not resist there, and steps would end at feasible_step
  /// again and again. At fewer in others, down to those they began with. What it does follows from q alone.
  /// Must be prepared again if anything has changed.
  ///
  /// Elements that are nearly inverted somewhere get a DeterminantBarrier in addition; its energy is part of
  /// theirs.
  void refine(const Matrix3X& q) override { set_quadrature(q, false); }
  /// The same during a solve: never at fewer points, so that it comes to an end. Whether anything changed.
  bool refine_further(const Matrix3X& q) override { return set_quadrature(q, true); }

 private:
  using E = LagrangeElement<degree>;
  /// An element as it is in space.
  struct Shape {
    int lattice;            ///< its degree
    int exact;              ///< see LagrangeCells
    Matrix3X rest, offset;  ///< on the lattice, see LagrangeCells; x₀ empty: zero
  };
  /// At which points the energy of an element is summed, and where it has a barrier.
  struct Points {
    bool refined = false;  ///< the rule, on each eighth of the element
    /// Eighths on which it is refined once more, bit by bit.
    unsigned finer = 0;
    double reach = 0;  ///< r̂ of the barrier; 0: none
    DeterminantBarrier::Parts parts = {};
    bool operator==(const Points&) const = default;
  };
  using Nodes = Eigen::Matrix<double, 3, E::node_count>;
  /// An element at a place where its determinant was last looked at, which tells what it does nearby.
  struct Known {
    Nodes nodes = Nodes::Zero();
    JacobianBound::Extent extent = {};
    double smallest = 0;          ///< coefficient of the determinant
    double above_compressed = 0;  ///< what the coefficients have above those of a cell that may be refined
  };
  /// An element of a material that must not invert.
  struct Guarded {
    Index element;
    Shape shape;
    VectorX rest_determinant = {};  ///< Bernstein coefficients, see JacobianBound
    Known known = {};
    Points points = {};
    DeterminantBarrier::Resistance resistance = {};  ///< if points.parts are not empty
  };
  /// Quadrature points in the reference tetrahedron.
  struct Table {
    VectorX weights;
    std::vector<typename E::Gradients> basis;  ///< ∂N_a/∂ξ at each
    std::vector<Matrix3X> shape;               ///< the same of the lattice of the shape
  };
  /// `level`: how often the rule is refined.
  const Table& table(const Shape& shape, int level);
  /// Sets where the energy of an element is summed.
  void set_points(const Shape& shape, const Points& points, E& element);
  bool set_quadrature(const Matrix3X& q, bool keeps);
  using Lattice =
      Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::ColMajor, 3, tetrahedron_lattice_size(largest_degree)>;
  Nodes nodes_of(const Guarded& guarded, const Matrix3X& q) const;
  /// Where the lattice of the shape of an element is, from its nodes.
  Lattice placed(const Guarded& guarded, const Nodes& nodes) const;
  /// Volume ratio at ξ of an element whose lattice is at x.
  static double volume_ratio(const Shape& shape, const Lattice& x, const Vector3& xi);
  /// Bound on how much its determinant differs on a path from what is known, see JacobianBound.
  double largest_change(const Known& known, const Nodes& start, const Nodes& end) const;
  /// Looks at an element: whether it may be refined.
  bool may_be_compressed(Guarded& guarded, const Nodes& nodes) const;
  /// What an element needs in addition to the points it has, or keeps of them.
  Points wanted_points(const Guarded& guarded, const Nodes& nodes, const Points& kept) const;
  /// Of an element that is nearly inverted.
  void set_barrier(Guarded& guarded);
  const JacobianBound& bound(const Guarded& guarded) const { return bounds_.at(guarded.shape.lattice); }

  std::vector<Guarded> guarded_;
  std::vector<std::size_t> resisting_;          ///< those of guarded_ with a barrier
  std::map<int, JacobianBound> bounds_;         ///< by degree of the shape; also that of displacements
  std::map<int, DeterminantBarrier> barriers_;  ///< likewise
  std::map<int, Eigen::MatrixXd> values_;       ///< by degree of the shape, of each N_a on its lattice
  std::map<std::array<int, 3>, Table> tables_;  ///< by degree of the shape, exactness and level
};

extern template class LagrangeElasticity<1>;
extern template class LagrangeElasticity<2>;
extern template class LagrangeElasticity<3>;
extern template class LagrangeElasticity<4>;

}  // namespace apart
