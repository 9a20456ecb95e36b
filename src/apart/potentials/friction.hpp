#pragma once
#include <apart/potentials/barrier_contact.hpp>
#include <apart/potentials/grip.hpp>

namespace apart {

/// Friction as an energy: Σ λ F(‖s + u‖), where u = Tᵀ Σ wᵢ (xᵢ − xᵢᵗ) is the tangential displacement of a
/// contact since the start of the step, λ its normal force, T an orthonormal basis of its tangent plane and s
/// the strain that it has from before.
///
/// Coulomb friction is not the gradient of any energy. It becomes one if λ and T are lagged: taken from an
/// earlier solve and kept constant, so that only u depends on x. How often they are updated within a step is
/// the friction loop's business (simulation/friction_loop). T is any orthonormal pair normal to the line that
/// joins the closest points, so all kinds of pairs are treated alike.
///
/// λ has the sign of the contact's weight: what is taken off the normal force is taken off friction too.
///
/// F′ is the coefficient of friction. It rises from 0 to the static value μ_s over displacements up to ε =
/// ε_v dt, which smooths the transition from sticking to sliding [thesis eq. 2.15: F = μ f₀, A.9]; if the
/// kinetic coefficient is smaller it then falls to that, smoothly, up to 11 ε, that is at sliding speeds of
/// 10 ε_v.
///
/// F has a kink where sliding ends: at rest the force may be anything up to λ μ_s, and what slides has no
/// curvature along its way, so that a Newton step goes far beyond where it would come to rest. During a solve
/// the force is therefore an unknown of its own, τ, tied to the displacement by (y/F′) τ = s + u, y = ‖s +
/// u‖. With τ eliminated, Newton's method for both has the same gradient and the curvature
///
///   F′/y (I − (1 − y F″/F′) ½(t ûᵀ + û tᵀ)),    t = τ/F′.    [Chan et al. 1999, for total variation]
///
/// Where τ is the force at x, it is the exact one. Where τ is zero, it is that of the quadratic which touches
/// F at x and has its minimum at rest. Where τ is what holds the contact at rest, a step ends at rest. Each
/// step says what τ is next (follow).
///
/// In the thesis s is zero: friction holds a force only by sliding below ε_v, and what it holds creeps. Here
/// s is s + u of the step before, shortened to ε, as in the elastic-plastic models of dry friction: what is
/// held stays where it is. What slides is not changed by it.
class Friction final : public Potential {
 public:
  explicit Friction(const CollisionSurface& surface) : surface_(surface) {}
  /// Freezes λ and T at x, where `contact` must be prepared, for a step of length `dt` [s].
  void set_lag(const BarrierContact& contact, const Matrix3X& x, double dt);
  /// Under-relaxation of the lag: forces become share · now + (1 − share) · before, where `other` holds the
  /// earlier lag; tangent bases are those of now where a contact is in both. A solve that reproduces its own
  /// forces is a fixed point for any share.
  void mix(const Friction& other, double share);
  /// The contact whose lagged force has changed most since `other`.
  struct Change {
    std::pair<int, int> bodies{-1, -1};
    double share = 0;  ///< of the largest lagged force
  };
  Change largest_change(const Friction& other) const;
  /// x at the start of the step: sliding is measured from here [m].
  void set_start(Matrix3X start) { start_ = std::move(start); }
  /// What contacts that stick remember of the step before; of the next set_lag on.
  void set_grips(Grips grips) { grips_ = std::move(grips); }
  /// The same at x, the end of the step.
  std::vector<Grip> grips(const Matrix3X& x) const;

  std::string_view name() const override { return "friction"; }
  double value(const Matrix3X& x) const override { return value_of(x, 0, term_count()); }
  void add_gradient(const Matrix3X& x, Matrix3X& gradient) const override {
    add_gradient_of(x, 0, term_count(), gradient);
  }
  bool has_parts() const override { return true; }
  double value_of(const Matrix3X& x, Index begin, Index end) const override;
  void add_gradient_of(const Matrix3X& x, Index begin, Index end, Matrix3X& gradient) const override;
  bool terms_vary() const override { return true; }
  void begin_solve() override;
  void follow(const Matrix3X& x, const Matrix3X& move) override;
  double mismatch(const Matrix3X& x) const override;
  Index term_count() const override { return Index(terms_.size()); }
  TermPoints term(Index i) const override { return terms_[i].points; }
  void hessians(const Matrix3X& x, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

  /// Bodies of the two primitives of term i, and the force times the step's scale it exerts on the first, at
  /// x [kg m].
  std::pair<int, int> bodies_of(Index i) const { return terms_[i].bodies; }
  Vector3 force(Index i, const Matrix3X& x) const;

 private:
  struct Term {
    FewPoints points;
    std::pair<int, int> bodies;
    Vector4 weights;
    Eigen::Matrix<double, 3, 2> basis;  ///< T
    Eigen::Vector2d strained;           ///< s [m]
    double sticking, sliding;           ///< μ_s λ and μ_k λ, times the step's scale [kg m]
    double epsilon;                     ///< ε = ε_v dt [m]
    Eigen::Vector2d begun = {0, 0};     ///< s + u where λ and T are from [m]
    Eigen::Vector2d expected = {0, 0};  ///< τ, times the step's scale [kg m]
    /// Whether the curvature is that of τ. Where weights are negative friction drives, and nothing comes to
    /// rest by it.
    bool has_expected() const { return sticking > 0; }
  };
  static ContactKey key(const Term& term);
  /// F and its derivatives, times λ, at y = ‖u‖.
  struct Curve {
    double value, first_over_y, second;
  };
  static Curve curve(const Term& term, double y);
  Eigen::Vector2d slip(const Term& term, const Matrix3X& x) const;  ///< s + u [m]
  Eigen::Matrix2d curvature(const Term& term, const Eigen::Vector2d& slip, Projection projection) const;
  const CollisionSurface& surface_;
  Grips grips_;
  std::vector<Term> terms_;
  bool solving_ = false;  ///< what the terms expect is known
  Matrix3X start_;
};

}  // namespace apart
