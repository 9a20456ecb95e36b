#pragma once
#include <apart/math/block_sparse.hpp>
#include <apart/solver/coarse_space.hpp>

#include <memory>
#include <optional>

namespace apart {

/// Conjugate gradients for symmetric positive definite block matrices, preconditioned by an incomplete
/// factorisation L D Lᵀ without fill and, if the near-null space is known, a coarse space: for systems whose
/// factors are many times larger than the matrix, such as heaps of grains and fine meshes of volumes. The
/// same bits for any number of threads.
class ConjugateGradient {
 public:
  struct Options {
    double tolerance = 1e-9;  ///< of the residual's norm, relative to that of b
    int max_iterations = 1000;
  };
  /// Copies the matrix, both triangles, row by row.
  void set_matrix(const BlockSparse& a);
  /// Adds a coarse space for this matrix; without it iterations grow with its size and stiffness.
  void set_coarse_space(const NearNullSpace& space);
  /// None if the tolerance is not reached, or the matrix turns out not to be positive definite.
  std::optional<VectorX> solve(const VectorX& b, const Options& options) const;
  int iterations() const { return iterations_; }  ///< of the last solve
  /// Whether the last solve found a direction of negative curvature, beyond rounding: then no factor exists.
  bool found_indefinite() const { return indefinite_; }
  /// Of one iteration: multiplications and additions.
  double flops_per_iteration() const {
    return 36.0 * double(column_.size()) + 60.0 * double(inverse_.size()) + (coarse_ ? coarse_->flops() : 0);
  }

 private:
  double dot(const VectorX& x, const VectorX& y) const;
  void factorise_incompletely();
  /// z = (L D Lᵀ)⁻¹ r + Z (Zᵀ A Z)⁻¹ Zᵀ r
  void precondition(const VectorX& r, VectorX& z) const;

  std::vector<Index> row_start_, column_;      ///< of blocks
  std::vector<Index> diagonal_;                ///< place of each row's diagonal block
  std::vector<Matrix3> block_;                 ///< of the matrix
  std::vector<Matrix3> lower_;                 ///< L, in the places of block_ left of the diagonal
  std::vector<Matrix3> inverse_;               ///< D⁻¹
  std::unique_ptr<const CoarseSpace> coarse_;  ///< null: none
  bool positive_ = true;                       ///< every diagonal block is definite
  mutable int iterations_ = 0;
  mutable bool indefinite_ = false;
};

}  // namespace apart
