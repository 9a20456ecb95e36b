#pragma once
#include <apart/potentials/potential.hpp>

namespace apart {

/// scale Σ k/2 (‖d‖ − ℓ)² over springs between a collision vertex and a point of up to three others:
/// d = x_a − Σ wᵢ xᵢ. Free to turn about both ends.
class Springs final : public Potential {
 public:
  struct Spring {
    FewPoints points;      ///< a first, then the others
    Vector3 weights;       ///< wᵢ of the others, their sum is one
    double stiffness = 0;  ///< k [N/m]
    double length = 0;     ///< ℓ at rest [m]
  };
  void set(double scale, std::vector<Spring> springs);

  std::string_view name() const override { return "attachments"; }
  double value(const Matrix3X& x) const override;
  void add_gradient(const Matrix3X& x, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(springs_.size()); }
  TermPoints term(Index i) const override { return springs_[i].points; }
  void hessians(const Matrix3X& x, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

 private:
  double scale_ = 1;
  std::vector<Spring> springs_;
};

}  // namespace apart
