#pragma once
#include <apart/core/team.hpp>
#include <apart/solver/hessian_assembly.hpp>

#include <vector>

namespace apart {

class Objective;

/// The gradient of an objective where it is prepared. It is void once the objective is prepared again, be it
/// at the same place, because its terms may have changed by then: who is given one says so with
/// Objective::expect.
class Gradient {
 public:
  explicit Gradient(const Objective& objective);
  const Matrix3X& of_nodes() const { return of_nodes_; }
  const Matrix3X& of_unknowns() const { return of_unknowns_; }
  const VectorX& of_free() const { return of_free_; }  ///< of the unknowns that may move

 private:
  friend Objective;
  Matrix3X of_nodes_, of_unknowns_;
  VectorX of_free_;
  std::size_t preparations_;
};

/// The function E that a time step minimises: a sum of terms, each a potential with a role. Elasticity and
/// inertia are functions of the nodes q, contact and friction of the vertices x = Φ(q) that collision
/// detection sees, and the solver moves neither but unknowns y, from which the nodes follow by a chart:
///
///   unknowns y  —chart→  nodes q  —Φ(q) = W q + x₀→  vertices x.
///
/// So that a potential need know only its own points, the objective adds up values and pulls derivatives back
/// by the chain rule. With J = ∂q/∂y at the current iterate,
///
///   E = Σ Eᵢ(q) + Σ Eⱼ(Φ(q)),    g = Σ ∇Eᵢ + Wᵀ Σ ∇Eⱼ,    H = Σ ∇²Eᵢ + Wᵀ (Σ ∇²Eⱼ) W,
///   ∂E/∂y = Jᵀ g,    ∂²E/∂y² = Jᵀ H J + Σ gₖ · ∂²qₖ/∂y².
///
/// The last sum is the curvature of the chart; it vanishes for every body whose nodes are the unknowns
/// themselves. Φ is linear, so vertices add no such term.
///
/// E is infinite outside of the feasible set (no intersection, no inversion where the material forbids it, no
/// strain beyond its limit) and is never evaluated there: feasible_step() bounds a step by what every term
/// allows before it is taken. All sums may be restricted to terms of some roles, so that energies, forces and
/// accelerations in reports come from the same list that is minimised.
///
/// An objective is at one place, coordinates(), to which prepare() moves it. Values and derivatives are those
/// there: if somebody else has prepared a term elsewhere in the meantime, they throw InvariantError.
///
/// A team of processes has one objective: every function but those that say otherwise must be called by all
/// of them, at the same place, and returns the same to all. The Hessian is not put together: each process has
/// its summand, from its own local terms.
class Objective {
 public:
  /// Keeps references to the map, the chart, the potentials and the team.
  Objective(const LinearMap& map, const Chart& chart, std::vector<Term> terms,
            const Team& team = Team::alone());
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;

  const std::vector<Term>& terms() const { return terms_; }
  const Team& team() const { return team_; }
  const Chart& chart() const { return chart_; }
  /// Which unknowns may move. Also forgets the pattern of the Hessian.
  void set_free(FreeCoordinates free);
  const FreeCoordinates& free() const { return free_; }

  /// Moves the objective to q.
  void prepare(const Matrix3X& q);
  /// How often it has been prepared: what was found before is that of other terms or another place.
  std::size_t preparations() const { return preparations_; }
  /// Throws InvariantError unless a gradient is the one here and now.
  void expect(const Gradient& gradient) const;
  double value(Roles roles = Roles::all()) const;
  /// The value of each potential, by name.
  std::vector<std::pair<std::string_view, double>> values() const;
  /// E, and Σ |value| of the potentials: the scale of its rounding errors.
  struct Energy {
    double value = 0, magnitude = 0;
  };
  Energy energy() const;
  /// In the nodes.
  Matrix3X gradient(Roles roles = Roles::all()) const;
  /// The same in the unknowns.
  Matrix3X reduced_gradient(Roles roles = Roles::all()) const {
    return chart_.pull_back(q_, gradient(roles));
  }
  /// Σ |∂(potential)/∂yᵢ| over the potentials, for each unknown: the sizes of the forces that act on it,
  /// whether or not they balance, times the step's scale [kg m].
  VectorX acting() const;
  /// Bound on the rounding error of the gradient at each unknown, from the stiffness that hessian() last
  /// found there [kg m]. No solver can balance forces better than that.
  VectorX gradient_rounding() const;
  /// Second derivatives in the free unknowns; each term projected, or exact. Of a team, this process's
  /// summand.
  const BlockSparse& hessian(Projection projection = Projection::psd) {
    return assemble(projection, chart_.is_identity() ? Matrix3X() : gradient());
  }
  /// The same with the gradient if it is known, which charts need.
  const BlockSparse& hessian(Projection projection, const Gradient& gradient) {
    expect(gradient);
    return assemble(projection, gradient.of_nodes());
  }
  /// Tells the potentials that a solve begins; and where the Newton step from here leads, in the unknowns.
  void begin_solve();
  void follow(const Matrix3X& y);
  /// The largest Potential::mismatch().
  double mismatch() const;
  /// Whether the pattern of the Hessian has changed since the last call.
  /// Blocks of this process's summand of them; zero before they have been assembled.
  Index own_blocks() const { return assembly_.matrix() ? Index(assembly_.matrix()->block_rows().size()) : 0; }
  bool take_pattern_change() { return team_.any(assembly_.take_pattern_change()); }
  const Matrix3X& coordinates() const { return q_; }  ///< q
  const Matrix3X& vertices() const { return x_; }     ///< Φ(q)

  /// Where a step y of the unknowns leads from q.
  Matrix3X retract(const Matrix3X& q, const Matrix3X& y) const { return chart_.retract(q, y); }
  /// How far from q a step y of the unknowns may go: the largest share found that all terms allow, and the
  /// corners of the way there where it is curved.
  StepBound feasible_step(const Matrix3X& q, const Matrix3X& y) const;
  /// The same for straight paths of the nodes.
  double feasible_step(const Path& nodes) const;

 private:
  const BlockSparse& assemble(Projection projection, const Matrix3X& gradient);
  StepBound feasible_step(const Path& nodes, const Path& vertices) const;
  /// From `begin` to `end` times y.
  StepBound feasible_piece(const Matrix3X& q, const Matrix3X& y, double begin, double end) const;
  std::vector<double> values_of(Roles roles) const;
  bool any_shared_out(Roles roles) const;
  bool is_summed_in_parts(const Term& term) const;
  const Matrix3X& points_of(const Term& term) const { return term.points == PointKind::nodes ? q_ : x_; }

  const LinearMap& map_;
  const Chart& chart_;
  const std::vector<Term> terms_;
  const Team& team_;
  std::vector<char> shared_out_;  ///< terms that are divided and of which some process has some
  FreeCoordinates free_;
  HessianAssembly assembly_;
  std::vector<Index> curved_;  ///< vertices of bodies with charts
  double largest_weight_ = 1;  ///< Σ |weights| of such a vertex
  Matrix3X q_, x_;
  std::size_t preparations_ = 0;
};

}  // namespace apart
