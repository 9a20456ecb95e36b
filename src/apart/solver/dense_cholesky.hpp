#pragma once
#include <apart/math/block_sparse.hpp>

#include <Eigen/Cholesky>

namespace apart {

/// Cholesky factorisation of a matrix as if it were full: for systems so small that an ordering and the
/// bookkeeping of a sparse factor cost more than the zeros do.
class DenseCholesky {
 public:
  /// False if the matrix is not positive definite to working precision.
  bool factorise(const BlockSparse& a);
  VectorX solve(const VectorX& b) const { return llt_.solve(b); }

 private:
  Eigen::MatrixXd full_;
  Eigen::LLT<Eigen::MatrixXd> llt_;
};

}  // namespace apart
