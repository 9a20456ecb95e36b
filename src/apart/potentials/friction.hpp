#pragma once
#include <apart/potentials/barrier_contact.hpp>

namespace apart {

/// Σ μλ f₀(‖u‖) with u = Tᵀ Σ wᵢ (xᵢ − xᵢᵗ), contact forces λ and sliding bases T lagged. [thesis eq. 2.15,
/// A.9] T is any orthonormal pair across the line joining the closest points, so no case distinction is
/// needed.
class Friction final : public Potential {
 public:
  explicit Friction(const CollisionSurface& surface) : surface_(surface) {}
  /// Freezes λ and T at x, where `contact` was last prepared. `epsilon` = ε_v dt [m].
  void set_lag(const BarrierContact& contact, const Matrix3X& x, double epsilon);
  /// x at the start of the step: sliding is measured from here [m].
  void set_start(Matrix3X start) { start_ = std::move(start); }

  std::string_view name() const override { return "friction"; }
  double value(const Matrix3X& x) const override;
  void add_gradient(const Matrix3X& x, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(terms_.size()); }
  TermPoints term(Index i) const override { return terms_[i].points; }
  void hessians(const Matrix3X& x, Index begin, Projection projection,
                std::span<LocalHessian> out) const override;

 private:
  struct Term {
    TermPoints points;
    Vector4 weights;
    Eigen::Matrix<double, 3, 2> basis;  ///< T
    double strength;                    ///< μλ dt² [kg m]
  };
  Eigen::Vector2d sliding(const Term& term, const Matrix3X& x) const;  ///< u [m]
  const CollisionSurface& surface_;
  std::vector<Term> terms_;
  Matrix3X start_;
  double epsilon_ = 1;
};

}  // namespace apart
