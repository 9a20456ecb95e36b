#pragma once
#include <apart/potentials/elastic_potential.hpp>
#include <apart/potentials/inertia.hpp>

namespace apart {

/// scale · rate/2 (q − o)ᵀ C (q − o) with C = Σ (mass · M + stiffness · K): its gradient is scale · C v with
/// the velocity v = rate (q − o) of the time step. K is the elastic Hessian at the start of the step, made
/// positive semi-definite per cell, so that damping never adds energy.
class RayleighDamping final : public Potential {
 public:
  /// Terms [first, first + count) of an elastic potential. Keeps a reference to it.
  void add_stiffness(const ElasticPotential& elasticity, Index first, Index count, double stiffness);
  /// Part of the mass matrix, node numbers as they are.
  void add_mass(const Eigen::SparseMatrix<double>& mass, Index first_node, double coefficient);
  bool empty() const { return ranges_.empty() && masses_.empty(); }

  /// Freezes K at `q`, where the elasticities must be prepared, with the scale they have now.
  void set_lag(const Matrix3X& q);
  /// `scale` [s²], `rate` [1/s] and o [m] of the time step.
  void set_step(double scale, double rate, Matrix3X origin);

  std::string_view name() const override { return "damping"; }
  double value(const Matrix3X& q) const override;
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(cells_.size() + masses_.size()); }
  TermPoints term(Index i) const override;
  void hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

 private:
  struct Range {
    const ElasticPotential* elasticity;
    Index first, count;
    double stiffness;
    LocalHessians local = {};  ///< scale · stiffness · K of each damped cell
  };
  struct Cell {
    Index range, term;  ///< in ranges_, and of its potential
  };
  struct MassEntry {
    std::array<Index, 2> nodes;  ///< row ≥ column
    double value;                ///< coefficient · M [kg/s]
    bool is_diagonal() const { return nodes[0] == nodes[1]; }
  };
  bool is_mass(Index i) const { return i >= Index(cells_.size()); }
  const MassEntry& mass_entry(Index i) const { return masses_[std::size_t(i) - cells_.size()]; }
  /// C of damped cell i, times the scale.
  Eigen::Map<const Eigen::MatrixXd> cell_matrix(Index i) const {
    return ranges_[std::size_t(cells_[std::size_t(i)].range)].local[cells_[std::size_t(i)].term];
  }

  std::vector<Range> ranges_;
  std::vector<Cell> cells_;
  std::vector<MassEntry> masses_;
  double mass_factor_ = 0, rate_ = 0;
  Matrix3X origin_;
};

}  // namespace apart
