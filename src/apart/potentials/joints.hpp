#pragma once
#include <apart/potentials/joint_turn.hpp>
#include <apart/potentials/potential.hpp>

namespace apart {

/// A scalar that a joint holds, bounds or drives: a length [m] or an angle [rad].
struct JointCoordinate {
  enum class Kind {
    product,  ///< a · b
    angle,    ///< of a in the plane of b (0) and c (90 degrees): atan2(a·c, a·b)
  };
  Kind kind = Kind::product;
  std::vector<Index> nodes;  ///< distinct
  NodeVector a, b, c;
  double near = 0;  ///< angles are counted beyond whole turns: the value nearest to this one [rad]

  double value(const Matrix3X& q) const;
  /// In the nodes, one after the other. Zero where an angle is not defined.
  VectorX gradient(const Matrix3X& q) const;
  /// `factor` times the second derivatives, added to a matrix of 3 × nodes rows; with a projection, a
  /// positive semi-definite matrix that is not below them.
  void add_hessian(const Matrix3X& q, double factor, Projection projection,
                   Eigen::Ref<Eigen::MatrixXd> hessian) const;
};

/// How a force f acts against a coordinate c. An augmented Lagrangian whose force is bounded,
///
///   ψ(c) = max over f ∈ [lower, upper] of f (c − target) − (f − λ)²/2k,    f = clamp(λ + k (c − target)),
///
/// is all that joints need: an equality (no bounds), a limit that only pushes (f ≥ 0 or f ≤ 0), a motor or
/// friction with a largest force (|f| ≤ F), and with λ = 0 for good a spring or, over one step, a damper.
struct JointLaw {
  double target = 0;                           ///< [m, rad]
  double lower = -infinity, upper = infinity;  ///< of f [N, N m]
  double multiplier = 0;                       ///< λ [N, N m], within the bounds
  double stiffness = 1;                        ///< k [N/m, N m/rad]
  bool elastic = false;  ///< a spring or damper: λ stays zero, c need not reach the target

  double force(double c) const;      ///< f = ψ′
  double energy(double c) const;     ///< ψ
  double curvature(double c) const;  ///< ψ″: k, or 0 where f is at a bound
  /// How far c is from where the law is content with its multiplier, |f − λ|/k [m, rad].
  double error(double c) const;
};

/// scale Σ ψ(c(q)) over the coordinates of joints and the laws that each of them obeys; then over the turns
/// of ball joints and theirs.
class Joints final : public Potential {
 public:
  struct Row {
    JointCoordinate coordinate;
    std::vector<JointLaw> laws;
  };
  struct Turn {
    JointTurn coordinate;
    std::vector<TurnLaw> laws;
  };
  double scale = 1;  ///< [s²]
  std::vector<Row> rows;
  std::vector<Turn> turns;

  std::string_view name() const override { return "joints"; }
  double value(const Matrix3X& q) const override;
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(rows.size() + turns.size()); }
  TermPoints term(Index i) const override {
    return is_row(i) ? row(i).coordinate.nodes : turn(i).coordinate.nodes;
  }
  void hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

 private:
  bool is_row(Index i) const { return i < Index(rows.size()); }
  const Row& row(Index i) const { return rows[std::size_t(i)]; }
  const Turn& turn(Index i) const { return turns[std::size_t(i) - rows.size()]; }
};

}  // namespace apart
