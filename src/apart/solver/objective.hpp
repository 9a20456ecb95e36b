#pragma once
#include <apart/solver/hessian_assembly.hpp>

#include <vector>

namespace apart {

/// The one function that a time step minimises: a sum of terms, some of nodes q, some of vertices Φ(q).
/// [docs/architecture.md]
///
///   E(q) = Σ Eᵢ(q) + Σ Eⱼ(Φ(q)),    ∇E = Σ ∇Eᵢ + Φᵀ Σ ∇Eⱼ,    ∇²E = Σ ∇²Eᵢ + Φᵀ (Σ ∇²Eⱼ) Φ
///
/// Contact and friction know only x = Φ(q); here they are pulled back by the chain rule. Sums may be
/// restricted to terms of some roles.
class Objective {
 public:
  /// Keeps references to the map and the potentials.
  Objective(const CoordinateMap& map, std::vector<Term> terms);
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;

  const std::vector<Term>& terms() const { return terms_; }
  /// Also forgets the pattern of the Hessian.
  void set_free(FreeCoordinates free);
  const FreeCoordinates& free() const { return free_; }

  /// Everything below speaks of the q last given here.
  void prepare(const Matrix3X& q);
  double value(Roles roles = Roles::all()) const;
  /// The value of each potential, by name.
  std::vector<std::pair<std::string_view, double>> values() const;
  /// Σ |value| of the potentials: the scale of rounding errors in value().
  double magnitude() const;
  Matrix3X gradient(Roles roles = Roles::all()) const;
  /// Σ |∂(potential)/∂qᵢ| over the potentials, for each node: the forces that act on it, whether or not they
  /// balance, times the step's scale [kg m].
  VectorX acting() const;
  /// How far off rounding may put the gradient at each node, by the stiffness hessian() last found there
  /// [kg m]: no solver can balance forces better.
  VectorX gradient_rounding() const;
  /// Second derivatives of the free coordinates, each term projected or as it is.
  const BlockSparse& hessian(Projection projection = Projection::psd);
  /// Whether the Hessian has another pattern since this was last asked.
  bool take_pattern_change() { return assembly_.take_pattern_change(); }
  const Matrix3X& coordinates() const { return q_; }  ///< q
  const Matrix3X& vertices() const { return x_; }     ///< Φ(q)

  /// Largest α ∈ [0, 1] found for which all terms allow the way from q to q + αp.
  double feasible_step(const Matrix3X& q, const Matrix3X& p) const;

 private:
  const Matrix3X& points_of(const Term& term) const { return term.points == PointKind::nodes ? q_ : x_; }

  const CoordinateMap& map_;
  const std::vector<Term> terms_;
  FreeCoordinates free_;
  HessianAssembly assembly_;
  Matrix3X q_, x_;
};

}  // namespace apart
