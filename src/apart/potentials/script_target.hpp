#pragma once
#include <apart/potentials/potential.hpp>

namespace apart {

/// Σ −√m λ·(q − q̂) + κ_A/2 m ‖q − q̂‖² over scripted nodes: the augmented Lagrangian that pulls them to
/// their targets when the direct way is blocked. [thesis eq. A.4]
class ScriptTarget final : public Potential {
 public:
  struct Target {
    Index node = 0;
    Vector3 position = Vector3::Zero();    ///< q̂ [m]
    Vector3 mask = Vector3::Ones();        ///< 1 on scripted axes, 0 on free ones
    double mass = 1;                       ///< m [kg]
    Vector3 multiplier = Vector3::Zero();  ///< λ
  };
  std::vector<Target> targets;
  double stiffness = 1e6;  ///< κ_A

  /// λ ← λ − κ_A √m (q − q̂) [thesis algorithm A.1]
  void update_multipliers(const Matrix3X& q);
  /// Σ ‖q − q̂‖² over scripted axes [m²].
  double squared_error(const Matrix3X& q) const;

  std::string_view name() const override { return "scripted motion"; }
  double value(const Matrix3X& q) const override;
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(targets.size()); }
  TermPoints term(Index i) const override { return {&targets[std::size_t(i)].node, 1}; }
  void hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

 private:
  static Vector3 error(const Target& t, const Matrix3X& q) {
    return t.mask.cwiseProduct(q.col(t.node) - t.position);
  }
};

}  // namespace apart
