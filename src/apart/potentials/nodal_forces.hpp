#pragma once
#include <apart/potentials/potential.hpp>

namespace apart {

/// −scale Σ fᵢ · (qᵢ − oᵢ): given forces on nodes. The origins o only keep the value small, so that rounding
/// does not disturb the line search; put them where the nodes are.
class NodalForces final : public Potential {
 public:
  /// `forces` [N] and `origins` [m]: 3 × node count.
  void set(double scale, Matrix3X forces, Matrix3X origins);

  std::string_view name() const override { return "loads"; }
  double value(const Matrix3X& q) const override;
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const override;
  Index term_count() const override { return 0; }  ///< linear: no second derivatives
  TermPoints term(Index) const override { return {}; }
  void hessians(const Matrix3X&, Index, Index, Projection, LocalHessians&) const override {}

 private:
  double scale_ = 1;
  std::vector<Index> nodes_;  ///< with a force
  Matrix3X forces_, origins_;
};

}  // namespace apart
