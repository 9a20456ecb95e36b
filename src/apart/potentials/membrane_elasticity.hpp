#pragma once
#include <apart/bodies/body.hpp>
#include <apart/core/team.hpp>
#include <apart/potentials/elastic_potential.hpp>
#include <apart/potentials/own_nodes.hpp>

namespace apart {

/// scale · Σ V Ψ(F) over the triangles of shells, strain limits included; scale = dt². [C-IPC eq. 6,
/// supplement eq. 16]
class MembraneElasticity final : public ElasticPotential {
 public:
  /// Adds the triangles of a body whose nodes start at `first_node`. Keeps no reference.
  void add(const ShellCells& cells, Index first_node, const OwnNodes& own = {});

  std::string_view name() const override { return "membrane"; }
  /// Infinite if a limit is reached.
  double value(const Matrix3X& q) const override;
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(triangles_.size()); }
  TermPoints term(Index i) const override { return triangles_[std::size_t(i)].nodes; }
  void hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

  bool has_limits() const { return has_limits_; }
  /// Largest α ≤ 1 for which the path up to α keeps at least a tenth of the initial distance to every limit.
  /// Upper limits hold on the whole path; a lower one only at α.
  StepBound feasible_step(const Path& path) const override;
  /// κ of the limit of each body, in the order they were added [Pa]; 0 without one.
  VectorX limit_stiffness() const;
  void set_limit_stiffness(const VectorX& stiffness);
  /// Every κ as given, and nothing near a limit.
  void reset_stiffness();
  /// Call with each accepted iterate, where it is prepared: doubles κ of the bodies a triangle of which has
  /// come too near to a limit twice in a row. True if there is one. [C-IPC 4.1]
  bool adapt_stiffness(const Matrix3X& q, const Team& team = Team::alone());

  /// Stretches σ₁ ≥ σ₂ ≥ 0 of one triangle, at place().
  const Vector2& stretches(Index triangle) const { return svd_[std::size_t(triangle)].sigma; }
  /// Von Mises' measure of the Cauchy stress [Pa] in the plane of the triangle, of its thickness at rest, at
  /// place().
  double von_mises(Index triangle) const;

  Strains largest_strains(const Matrix3X& q) const override;
  std::vector<WorstElement> worst_elements(const Matrix3X& q) const override;
  bool has_stress() const override { return true; }
  Deformed deformed(Index triangle) const override;

 private:
  /// Decomposes every deformation gradient once, for value, gradient and Hessian alike.
  void prepare_at(const Matrix3X& q) override;

  struct Triangle {
    std::array<Index, 3> nodes;
    Index part;
    double volume;
    Eigen::Matrix<double, 2, 3> shape_gradients;  ///< ∇N_a: F = Σ q_a ∇N_aᵀ [1/m]
  };
  struct Part {  ///< a body
    Membrane membrane;
    std::optional<StretchLimit> limit;
    double stiffness = 0;  ///< κ now [Pa]
    const StretchLimit* limit_or_null() const { return limit ? &*limit : nullptr; }
  };
  const Part& part_of(const Triangle& t) const { return parts_[std::size_t(t.part)]; }
  double feasible_step(const Triangle& t, const Matrix3X& q, const Matrix3X& p) const;

  std::vector<Triangle> triangles_;
  std::vector<Part> parts_;
  std::vector<ThinSvd> svd_;   ///< of every triangle at place()
  std::vector<char> crowded_;  ///< of every triangle: it was too near to a limit in the last iterate
  bool has_limits_ = false;
};

}  // namespace apart
