#pragma once
#include <apart/bodies/body.hpp>
#include <apart/potentials/continuum_elasticity.hpp>
#include <apart/potentials/hinge_bending.hpp>
#include <apart/potentials/lagrange_elasticity.hpp>
#include <apart/potentials/membrane_elasticity.hpp>
#include <apart/potentials/planar_elasticity.hpp>
#include <apart/potentials/rod_elasticity.hpp>

namespace apart {

/// The elastic potentials of some bodies: cells of volumes and planar bodies, triangles and hinges of shells,
/// rods.
struct ElasticParts {
  /// Adds the elastic parts of a body whose nodes start at `first_node`; of a team, those of this process.
  void add(const Body& body, Index first_node, Guard guard = Guard::inversion, const OwnNodes& own = {});
  /// The one list of them: everything that follows, the terms of a step and what is said of elements in
  /// reports, diagnoses and frames goes through it.
  static constexpr std::size_t count = 9;
  std::array<ElasticPotential*, count> potentials() {
    return {&cells, &planar, &curved, &quadratic, &cubic, &quartic, &membranes, &hinges, &rods};
  }
  std::array<const ElasticPotential*, count> potentials() const {
    return {&cells, &planar, &curved, &quadratic, &cubic, &quartic, &membranes, &hinges, &rods};
  }
  using Counts = std::array<Index, count>;
  Counts term_counts() const;    ///< of each
  void set_scale(double scale);  ///< of the incremental potential: energy times dt²
  void prepare(const Matrix3X& q);
  /// Refines the quadrature of curved cells where they are compressed most; see LagrangeElasticity::refine.
  void refine(const Matrix3X& q);
  /// The same during a solve, and prepares again. Whether anything changed.
  bool refine_further(const Matrix3X& q);
  double value(const Matrix3X& q) const;  ///< of all, times the scale
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const;

  /// Median over the nodes with elastic terms of the largest stiffness a node has when all others are held,
  /// at the given nodes [N/m]; 0 without any. Leaves the scale at 1.
  double usual_node_stiffness(const Matrix3X& q, const Team& team = Team::alone());

  // At the q at which they are prepared.
  Strains largest_strains(const Matrix3X& q) const;
  double smallest_volume_ratio(const Matrix3X& q) const;  ///< V/V₀ at quadrature points; at most 1

  ContinuumElasticity cells;  ///< of degree one
  PlanarElasticity planar;
  LagrangeElasticity<1> curved;  ///< with displacements of degree one, on curved cells
  LagrangeElasticity<2> quadratic;
  LagrangeElasticity<3> cubic;
  LagrangeElasticity<4> quartic;
  MembraneElasticity membranes;
  HingeBending hinges;
  RodElasticity rods;
};

}  // namespace apart
