#pragma once
#include <apart/collision/active_set.hpp>
#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/ccd.hpp>
#include <apart/potentials/barrier.hpp>
#include <apart/potentials/potential.hpp>

#include <functional>
#include <optional>

namespace apart {

/// Sees the pairs near the surface before each bound of a step along a path of surface vertices.
using StepBoundObserver = std::function<void(const Candidates&, const Path&)>;

/// κ Σ multiplicity · e(x) · b(d²) over the pairs in reach, of collision vertices. [thesis eq. 2.5, 2.24,
/// A.7, A.10]
class BarrierContact final : public Potential {
 public:
  /// Keeps references to both; `candidates` is asked again whenever x has moved. `ccd`: by which method steps
  /// are bounded.
  BarrierContact(const CollisionSurface& surface, CandidateCache& candidates,
                 CcdMethod ccd = CcdMethod::additive);

  void set_stiffness(double kappa) { kappa_ = kappa; }
  double stiffness() const { return kappa_; }
  const ActiveSet& active_set() const { return active_; }  ///< of the x last prepared

  std::string_view name() const override { return "contact"; }
  void prepare(const Matrix3X& x) override;
  double value(const Matrix3X& x) const override;
  void add_gradient(const Matrix3X& x, Matrix3X& gradient) const override;
  bool terms_vary() const override { return true; }
  Index term_count() const override { return Index(active_.contacts.size() + active_.plane_contacts.size()); }
  TermPoints term(Index i) const override;
  void hessians(const Matrix3X& x, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

  /// No two primitives come closer than their thickness. [thesis A.4, C-IPC algorithm 1]
  StepBound feasible_step(const Path& path) const override;
  /// If set, called before each bound of a step with the pairs near its start. Changes no result.
  StepBoundObserver on_step_bound;

  /// What contact i presses with: κ·multiplicity·e·|∂b/∂d²|·2d = dt² · normal force [kg m], along the unit
  /// vector `direction` from the second primitive to the first; `weights` of the vertices as in
  /// ClosestFeature. [thesis A.10]
  struct Press {
    FewPoints points;
    Vector4 weights = Vector4::Zero();
    Vector3 direction = Vector3::Zero();
    double magnitude = 0;
    double distance = 0;  ///< [m]
  };
  Press press(Index i, const Matrix3X& x) const;
  /// Where contacts should come to rest, as shares of the reach ŝ of s: under the forces of an ordinary
  /// scene, and under light ones where bodies are seen as thick as contact keeps them apart.
  struct RestingShares {
    double usual, light;
  };
  /// κ with which contacts that press as they do now would rest there: the mean over them, weighted by their
  /// press, but for relaxed ones; 0 if there is none. `light`: up to which Press::magnitude contact i counts
  /// as light; 0: never.
  double resting_stiffness(const Matrix3X& x, const RestingShares& shares,
                           FunctionRef<double(Index)> light) const;
  /// (distance − ξ)/d̂, averaged over the contacts with their press as weight; 1 if there are none.
  double mean_gap_share(const Matrix3X& x) const;
  /// Bodies of the first and the second primitive.
  std::pair<int, int> bodies_of(Index i) const;
  /// Where contact i acts.
  ContactRange range(Index i) const;

 private:
  bool is_plane(Index i) const { return i >= Index(active_.contacts.size()); }
  const PlaneContact& plane_contact(Index i) const {
    return active_.plane_contacts[i - active_.contacts.size()];
  }
  struct PlaneGap {
    const HalfSpace& plane;
    double distance;  ///< signed, without thickness [m]
    Barrier b;        ///< in squared distance
  };
  PlaneGap plane_gap(Index i, const Matrix3X& x) const;
  std::vector<Press> presses(const Matrix3X& x) const;  ///< of all contacts

  const CollisionSurface& surface_;
  CandidateCache& candidates_;
  CcdMethod ccd_;
  ActiveSet active_;
  std::optional<Matrix3X> prepared_;                ///< x of active_
  std::vector<std::array<Index, 2>> plane_points_;  ///< of the plane contacts: vertex, and carrier or −1
  double kappa_ = 1;
};

/// Second derivative of b(f) in the points of a pair, f their squared distance with the given closest feature
/// and b′, b″ the derivatives of b. With Projection::psd the projection is exact but works in the 1, 3 or 5
/// dimensions the matrix really has.
StencilMatrix barrier_hessian(const ClosestFeature& feature, int n, const StencilPoints& x, double b1,
                              double b2, Projection projection);

}  // namespace apart
