#pragma once
#include <apart/collision/active_set.hpp>
#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/ccd.hpp>
#include <apart/potentials/barrier.hpp>
#include <apart/potentials/prepared_potential.hpp>

#include <functional>

namespace apart {

/// Called with the candidate pairs before each step bound along a path of surface vertices.
using StepBoundObserver = std::function<void(const Candidates&, const Path&)>;

/// The contact barrier: κ Σ weight · e(x) · b(d²) over all pairs of primitives closer than ξ + d̂.
///
/// b falls from infinity at distance ξ to zero at ξ + d̂, where it is C² (potentials/barrier.hpp). So contact
/// acts only within reach d̂, forces are smooth, and a state with an intersection has no finite energy. The
/// distance of point–triangle and edge–edge pairs is that of their closest features, which are found anew at
/// every x; pairs that share them are merged with the sum of their weights (collision/active_set.hpp). The
/// mollifier e takes the force of edge–edge pairs to zero as the edges become parallel, where their distance
/// is not differentiable.
///
/// Every pair has weight one [thesis], or what its share of the area is (collision/contact_weights.hpp); then
/// κ is a pressure times the step's scale, and forces do not depend on the mesh. Weights of contacts at
/// concave edges and corners may be negative: the edge that two triangles have in common is taken off. Each
/// local Hessian is projected with its sign, so the sum stays positive semi-definite.
///
/// A finite barrier alone does not prevent tunnelling, since a step can jump over it: feasible_step() bounds
/// the step by continuous collision detection over all pairs on the path.
/// [thesis eq. 2.5, 2.24, A.7, A.10]
class BarrierContact final : public PreparedPotential {
 public:
  /// Keeps references to both; `candidates` is queried whenever x has moved. `ccd`: the method that bounds
  /// steps.
  BarrierContact(const CollisionSurface& surface, CandidateCache& candidates,
                 CcdMethod ccd = CcdMethod::additive);

  /// Asks these for pairs from now on. Prepare again.
  void use(CandidateCache& candidates) {
    candidates_ = &candidates;
    forget();
  }
  void set_stiffness(double kappa) { kappa_ = kappa; }
  double stiffness() const { return kappa_; }
  /// What is in reach at x, where it is prepared.
  const ActiveSet& active_set(const Matrix3X& x) const {
    expect_at(x);
    return active_;
  }

  std::string_view name() const override { return "contact"; }
  double value(const Matrix3X& x) const override { return value_of(x, 0, term_count()); }
  void add_gradient(const Matrix3X& x, Matrix3X& gradient) const override {
    add_gradient_of(x, 0, term_count(), gradient);
  }
  bool has_parts() const override { return true; }
  double value_of(const Matrix3X& x, Index begin, Index end) const override;
  void add_gradient_of(const Matrix3X& x, Index begin, Index end, Matrix3X& gradient) const override;
  bool terms_vary() const override { return true; }
  Index term_count() const override { return Index(active_.contacts.size() + active_.plane_contacts.size()); }
  TermPoints term(Index i) const override;
  Index cost(Index i) const override;
  void hessians(const Matrix3X& x, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

  /// No two primitives come closer than their thickness. [thesis A.4, C-IPC algorithm 1]
  StepBound feasible_step(const Path& path) const override;
  /// If set, called before each step bound with the pairs near its start. Changes no result.
  StepBoundObserver on_step_bound;

  /// The normal force of contact i times dt²: −κ·weight·e·∂b/∂d²·2d [kg m], along the unit vector `direction`
  /// from the second primitive to the first; `weights` of the vertices as in ClosestFeature. It has the sign
  /// of the contact's weight. [thesis A.10]
  struct NormalForce {
    FewPoints points;
    Vector4 weights = Vector4::Zero();
    Vector3 direction = Vector3::Zero();
    double magnitude = 0;
    double distance = 0;  ///< [m]
  };
  NormalForce normal_force(Index i, const Matrix3X& x) const;
  /// The value of s at which contacts should come to rest, as a share of its reach ŝ: under ordinary forces,
  /// and under light ones between bodies whose visible thickness is the distance that contact keeps.
  struct RestingShares {
    double usual, light;
  };
  /// κ with which contacts under their present forces would rest there: the mean over all but shortened ones,
  /// weighted by force; 0 if there are none. `light`: the NormalForce::magnitude up to which contact i counts
  /// as light; 0: never.
  double resting_stiffness(const Matrix3X& x, const RestingShares& shares,
                           FunctionRef<double(Index)> light) const;
  /// (distance − ξ)/d̂, averaged over the contacts, weighted by force; 1 if there are none.
  double mean_gap_share(const Matrix3X& x) const;
  /// Bodies of the first and the second primitive of contact i.
  std::pair<int, int> bodies_of(Index i) const;
  /// Where contact i acts.
  ContactRange range(Index i) const;

 private:
  void prepare_at(const Matrix3X& x) override;
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
  /// What all derivatives of a contact begin with.
  struct Evaluated {
    ClosestFeature feature;
    Vector3 r;  ///< [m], from the second primitive to the first
    Barrier b;  ///< in squared distance
  };
  Evaluated evaluate(Index i, const Matrix3X& x) const;
  /// Of contact i, at place(); `other`: room for one that is not this process's.
  const Evaluated& evaluated(Index i, Evaluated& other) const;
  std::vector<NormalForce> normal_forces(const Matrix3X& x) const;  ///< of all contacts

  const CollisionSurface& surface_;
  CandidateCache* candidates_;
  CcdMethod ccd_;
  ActiveSet active_;                                ///< at place()
  Index first_evaluated_ = 0;                       ///< of a team: the first of this process's share
  std::vector<Evaluated> evaluated_;                ///< of the contacts of active_ from there on
  std::vector<std::array<Index, 2>> plane_points_;  ///< of the plane contacts: vertex, and carrier or −1
  double kappa_ = 1;
};

/// Second derivative of b(f) in the points of a pair, f their squared distance with the given closest feature
/// and b′, b″ the derivatives in `b`. With Projection::psd the projection is exact but works in the 1, 3 or 5
/// dimensions the matrix really has.
StencilMatrix barrier_hessian(const ClosestFeature& feature, int n, const StencilPoints& x, const Barrier& b,
                              Projection projection);

}  // namespace apart
