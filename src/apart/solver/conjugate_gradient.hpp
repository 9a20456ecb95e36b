#pragma once
#include <apart/math/block_sparse.hpp>

#include <optional>

namespace apart {

/// Conjugate gradients for symmetric positive definite block matrices, preconditioned by the inverse of the
/// diagonal blocks: for systems in which every node meets few others and none of them for long, such as heaps
/// of grains, whose factors are many times larger than they are. The same bits for any number of threads.
class ConjugateGradient {
 public:
  struct Options {
    double tolerance = 1e-9;  ///< of the residual's norm, relative to that of b
    int max_iterations = 1000;
  };
  /// Copies the matrix, both triangles, row by row.
  void set_matrix(const BlockSparse& a);
  /// None if the tolerance is not reached, or the matrix turns out not to be positive definite.
  std::optional<VectorX> solve(const VectorX& b, const Options& options) const;
  int iterations() const { return iterations_; }  ///< of the last solve
  /// Of one iteration: multiplications and additions.
  double flops_per_iteration() const {
    return 18.0 * double(column_.size()) + 60.0 * double(inverse_.size());
  }

 private:
  double dot(const VectorX& x, const VectorX& y) const;

  std::vector<Index> row_start_, column_;  ///< of blocks
  std::vector<Matrix3> block_, inverse_;   ///< of the matrix; of its diagonal
  mutable int iterations_ = 0;
};

}  // namespace apart
