#pragma once
#include <apart/bodies/body.hpp>
#include <apart/math/svd.hpp>
#include <apart/potentials/potential.hpp>

#include <array>

namespace apart {

/// scale · Σ V Ψ(F) over linear tetrahedra of nodes; scale = dt². [thesis eq. 2.1]
class ContinuumElasticity final : public Potential {
 public:
  ContinuumElasticity() = default;
  /// Adds the cells of a body whose nodes start at `first_node`. Keeps no reference.
  void add(const ElasticCells& cells, Index first_node);
  void set_scale(double scale) { scale_ = scale; }

  std::string_view name() const override { return "elasticity"; }
  /// Decomposes every deformation gradient once, for value, gradient and Hessian alike; those of linear
  /// elasticity need no decomposition.
  void prepare(const Matrix3X& q) override;
  double value(const Matrix3X& q) const override;
  void add_gradient(const Matrix3X& q, Matrix3X& gradient) const override;
  Index term_count() const override { return Index(cells_.size()); }
  TermPoints term(Index i) const override { return cells_[std::size_t(i)].nodes; }
  void hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                LocalHessians& out) const override;

  /// Stretches σ of one cell at the q last prepared.
  Vector3 stretches(Index cell) const;
  /// Cauchy stress [Pa] of one cell at the q last prepared.
  Matrix3 cauchy_stress(Index cell) const;
  /// Cells of materials that must not invert.
  const Tetrahedra& guarded_cells() const { return guarded_; }
  /// None of them inverts.
  double feasible_step(const Path& path) const override;

 private:
  struct Cell {
    std::array<Index, 4> nodes;
    Index material;
    double volume;
    Eigen::Matrix<double, 3, 4> shape_gradients;  ///< ∇N_a: F = Σ q_a ∇N_aᵀ [1/m]
  };
  Matrix3 gradient_of(const Cell& cell, const Matrix3X& q) const;
  std::vector<Cell> cells_;
  std::vector<Material> materials_;
  /// F = u · diag(sigma) · vᵀ of every cell at the q last prepared: singular values for isotropic materials;
  /// for others u = F, sigma = 1 and v = I.
  std::vector<SignedSvd> svd_;
  Tetrahedra guarded_ = Tetrahedra(4, 0);
  double scale_ = 1;
};

}  // namespace apart
