#pragma once
#include <apart/solver/hessian_assembly.hpp>
#include <apart/solver/reduced_hessian.hpp>

#include <vector>

namespace apart {

/// The one function that a time step minimises: a sum of terms, some of nodes q, some of vertices x = Φ(q),
/// over unknowns y that say where nodes go from where they are. [docs/architecture.md]
///
///   unknowns y  —chart→  nodes q  —Φ(q) = W q + x₀→  vertices x
///   E = Σ Eᵢ(q) + Σ Eⱼ(Φ(q)),    g = Σ ∇Eᵢ + Wᵀ Σ ∇Eⱼ,    H = Σ ∇²Eᵢ + Wᵀ (Σ ∇²Eⱼ) W,
///   ∂E/∂y = Jᵀ g,    ∂²E/∂y² = Jᵀ H J + Σ gₖ · ∂²qₖ/∂y²
///
/// Contact and friction know only x; here they are pulled back by the chain rule. Sums may be restricted to
/// terms of some roles.
class Objective {
 public:
  /// Keeps references to the map, the chart and the potentials.
  Objective(const LinearMap& map, const Chart& chart, std::vector<Term> terms);
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;

  const std::vector<Term>& terms() const { return terms_; }
  const Chart& chart() const { return chart_; }
  /// Which unknowns may move. Also forgets the pattern of the Hessian.
  void set_free(FreeCoordinates free);
  const FreeCoordinates& free() const { return free_; }

  /// Everything up to hessian() speaks of the q last given here.
  void prepare(const Matrix3X& q);
  double value(Roles roles = Roles::all()) const;
  /// The value of each potential, by name.
  std::vector<std::pair<std::string_view, double>> values() const;
  /// Σ |value| of the potentials: the scale of rounding errors in value().
  double magnitude() const;
  /// In the nodes.
  Matrix3X gradient(Roles roles = Roles::all()) const;
  /// The same in the unknowns.
  Matrix3X reduced_gradient(Roles roles = Roles::all()) const {
    return chart_.pull_back(q_, gradient(roles));
  }
  /// Σ |∂(potential)/∂yᵢ| over the potentials, for each unknown: the forces that act on it, whether or not
  /// they balance, times the step's scale [kg m].
  VectorX acting() const;
  /// How far off rounding may put the gradient at each unknown, by the stiffness hessian() last found there
  /// [kg m]: no solver can balance forces better.
  VectorX gradient_rounding() const;
  /// Second derivatives of the free unknowns, each term projected or as it is.
  const BlockSparse& hessian(Projection projection = Projection::psd) {
    return hessian(projection, chart_.is_identity() ? Matrix3X() : gradient());
  }
  /// The same with `gradient` = gradient() at hand; charts need it.
  const BlockSparse& hessian(Projection projection, const Matrix3X& gradient);
  /// Whether the Hessian has another pattern since this was last asked.
  bool take_pattern_change();
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
  StepBound feasible_step(const Path& nodes, const Path& vertices) const;
  /// From `begin` to `end` times y.
  StepBound feasible_piece(const Matrix3X& q, const Matrix3X& y, double begin, double end) const;
  const Matrix3X& points_of(const Term& term) const { return term.points == PointKind::nodes ? q_ : x_; }
  const BlockSparse& matrix() const { return chart_.is_identity() ? assembly_.matrix() : reduced_.matrix(); }

  const LinearMap& map_;
  const Chart& chart_;
  const std::vector<Term> terms_;
  FreeCoordinates free_;
  HessianAssembly assembly_;
  ReducedHessian reduced_;
  std::vector<Index> curved_;  ///< vertices of bodies with charts
  double largest_weight_ = 1;  ///< Σ |weights| of such a vertex
  Matrix3X q_, x_;
};

}  // namespace apart
