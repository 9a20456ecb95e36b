#pragma once
#include <apart/bodies/body.hpp>
#include <apart/geometry/dihedral_angle.hpp>
#include <apart/potentials/elastic_potential.hpp>
#include <apart/potentials/own_nodes.hpp>

namespace apart {

/// scale · Σ K (θ − θ̄)² over the hinges of shells; scale = dt². [C-IPC supplement eq. 17]
class HingeBending final : public ElasticPotential {
 public:
  /// Adds the hinges of a body whose nodes start at `first_node`. Keeps no reference.
  void add(const ShellCells& cells, Index first_node, const OwnNodes& own = {});

  std::string_view name() const override { return "bending"; }
  double value(const Matrix3X& q) const override;
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(hinges_.size()); }
  TermPoints term(Index i) const override { return hinges_[std::size_t(i)].nodes; }
  /// Projected by its structure, without eigenvalues; not the nearest, but never below the exact one.
  void hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

  /// None: hinges bend, and are not stretched.
  Strains largest_strains(const Matrix3X&) const override { return {}; }
  /// None: they resist the same at any angle.
  std::vector<WorstElement> worst_elements(const Matrix3X&) const override { return {}; }
  bool has_stress() const override { return false; }

 private:
  /// Measures every angle once, for value, gradient and Hessian alike.
  void prepare_at(const Matrix3X& q) override;

  struct Hinge {
    std::array<Index, 4> nodes;
    double rest_angle;
    double stiffness;  ///< K [J]
  };
  std::vector<Hinge> hinges_;
  std::vector<Dihedral> dihedrals_;  ///< of every hinge at place()
};

}  // namespace apart
