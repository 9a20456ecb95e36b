#pragma once
#include <apart/math/block_sparse.hpp>
#include <apart/solver/coarse_space.hpp>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace apart {

/// Conjugate gradients for symmetric positive definite block matrices, for systems whose factors are many
/// times larger than the matrix, such as heaps of grains and fine meshes of volumes. The preconditioner is an
/// incomplete factorisation L D Lᵀ without fill and, if the near-null space is known, a coarse space.
///
/// Blocks are divided into compact parts. Those that couple a part with an earlier one come last, the border;
/// what remains of the parts is independent of each other, and is factorised and solved with in parallel. The
/// same bits for any number of threads.
class ConjugateGradient {
 public:
  struct Options {
    double tolerance = 1e-9;  ///< of the residual's norm, relative to that of b
    int max_iterations = 1000;
  };
  /// Keeps a reference to the matrix, which must not change before the last solve with it. Without the
  /// near-null space iterations grow with its size and stiffness.
  void set_matrix(const BlockSparse& a, const NearNullSpace* space = nullptr);
  /// None if the tolerance is not reached, or the matrix turns out not to be positive definite.
  std::optional<VectorX> solve(const VectorX& b, const Options& options) const;
  int iterations() const { return iterations_; }  ///< of the last solve
  /// Whether the last solve found a direction of negative curvature, beyond rounding: then no factor exists.
  bool found_indefinite() const { return indefinite_; }
  /// Of one iteration: multiplications and additions.
  double flops_per_iteration() const {
    return 36.0 * double(row_place_.size() + lower_.size()) + 60.0 * double(inverse_.size()) +
           (coarse_ ? coarse_->flops() : 0);
  }

 private:
  void set_places(const NearNullSpace* space);
  void find_columns();
  std::vector<Index> find_lower();
  void factorise(std::span<const Index> slots);
  bool factorise_rows(Index first, Index last, std::span<const Index> slots);
  double dot(const VectorX& x, const VectorX& y) const;
  /// q = A p
  void multiply(const VectorX& p, VectorX& q) const;
  /// z = (L D Lᵀ)⁻¹ r + Z (Zᵀ A Z)⁻¹ Zᵀ r
  void precondition(const VectorX& r, VectorX& z) const;
  void solve_forward(Index first, Index last, const VectorX& r, VectorX& z) const;
  void solve_backward(Index first, Index last, VectorX& z) const;

  const BlockSparse* matrix_ = nullptr;
  // Blocks are numbered anew, part after part and then the border: by places.
  std::vector<Index> block_at_, place_;  ///< the block at each place; the place of each block
  std::vector<Index> range_start_;       ///< places of each part, and of pieces of the border; their end
  Index parts_ = 0;                      ///< of the ranges, that are not pieces of the border
  std::vector<Index> row_place_;         ///< of each stored block of the matrix
  // Stored blocks whose row and column are in different ranges, by the place of their row.
  std::vector<Index> across_start_, across_column_, across_slot_;
  std::vector<Index> lower_start_;       ///< of each row, in lower_
  std::vector<Index> lower_column_;      ///< of L, in places, ascending
  std::vector<Eigen::Matrix3f> lower_;   ///< L, rounded, which saves half of the memory traffic
  std::vector<Matrix3> inverse_;         ///< D⁻¹
  bool positive_ = true;                 ///< every diagonal block is definite
  std::unique_ptr<CoarseSpace> coarse_;  ///< null: none
  mutable int iterations_ = 0;
  mutable bool indefinite_ = false;
};

}  // namespace apart
