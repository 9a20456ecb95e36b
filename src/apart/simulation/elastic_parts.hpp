#pragma once
#include <apart/bodies/body.hpp>
#include <apart/potentials/continuum_elasticity.hpp>
#include <apart/potentials/hinge_bending.hpp>
#include <apart/potentials/membrane_elasticity.hpp>
#include <apart/potentials/rod_elasticity.hpp>

namespace apart {

/// The elastic potentials of some bodies: cells of volumes, triangles and hinges of shells, rods.
struct ElasticParts {
  /// Adds the elastic parts of a body whose nodes start at `first_node`.
  void add(const Body& body, Index first_node);
  /// All of them.
  std::array<Potential*, 4> potentials() { return {&cells, &membranes, &hinges, &rods}; }
  std::array<Index, 4> term_counts() const;  ///< of each
  void set_scale(double scale);              ///< of the incremental potential: energy times dt²
  void prepare(const Matrix3X& q);
  double value(const Matrix3X& q) const;  ///< of all, times the scale
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const;

  /// Median over the nodes with elastic terms of the largest stiffness a node has when all others are held,
  /// at the given nodes [N/m]; 0 without any. Leaves the scale at 1.
  double usual_node_stiffness(const Matrix3X& q);

  // Where q was last prepared.
  double largest_strain(const Matrix3X& q) const;  ///< |σ − 1|, over all stretches σ
  double smallest_volume_ratio() const;            ///< V/V₀; at most 1

  ContinuumElasticity cells;
  MembraneElasticity membranes;
  HingeBending hinges;
  RodElasticity rods;
};

}  // namespace apart
