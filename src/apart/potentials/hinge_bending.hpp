#pragma once
#include <apart/bodies/body.hpp>
#include <apart/geometry/dihedral_angle.hpp>
#include <apart/potentials/potential.hpp>

namespace apart {

/// scale · Σ K (θ − θ̄)² over the hinges of shells; scale = dt². [C-IPC supplement eq. 17]
class HingeBending final : public Potential {
 public:
  /// Adds the hinges of a body whose nodes start at `first_node`. Keeps no reference.
  void add(const ShellCells& cells, Index first_node);
  void set_scale(double scale) { scale_ = scale; }

  std::string_view name() const override { return "bending"; }
  /// Measures every angle once, for value, gradient and Hessian alike.
  void prepare(const Matrix3X& q) override;
  double value(const Matrix3X& q) const override;
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(hinges_.size()); }
  TermPoints term(Index i) const override { return hinges_[std::size_t(i)].nodes; }
  /// Projected by its structure, without eigenvalues; not the nearest, but never below the exact one.
  void hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

 private:
  struct Hinge {
    std::array<Index, 4> nodes;
    double rest_angle;
    double stiffness;  ///< K [J]
  };
  std::vector<Hinge> hinges_;
  std::vector<Dihedral> dihedrals_;  ///< of every hinge at the q last prepared
  double scale_ = 1;
};

}  // namespace apart
