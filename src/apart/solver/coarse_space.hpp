#pragma once
#include <apart/core/types.hpp>
#include <apart/solver/near_null_space.hpp>

#include <Eigen/SparseCholesky>
#include <span>
#include <vector>

namespace apart {

/// The second level of a preconditioner. The blocks of a system are divided by their positions into
/// aggregates of about a hundred neighbours, and with Z, whose columns are the rigid motions of one aggregate
/// each,
///   z = Z (Zᵀ A Z)⁻¹ Zᵀ r
/// corrects the errors that move such aggregates as a whole, which an incomplete factorisation, whose entries
/// reach from a node to its neighbours only, takes hundreds of iterations to remove. Added to it, the number
/// of iterations hardly grows with the mesh or with stiffness (additive two-level method: e.g. Smith,
/// Bjørstad, Gropp, Domain Decomposition, 1996). The same bits for any number of threads.
class CoarseSpace {
 public:
  /// The matrix, both triangles, row by row.
  struct Rows {
    std::span<const Index> row_start, column;  ///< of blocks
    std::span<const Matrix3> block;
  };
  CoarseSpace(const NearNullSpace& space, const Rows& a);

  /// False also if Zᵀ A Z is not positive definite.
  bool exists() const { return usable_; }
  /// z += Z (Zᵀ A Z)⁻¹ Zᵀ r
  void add_correction(const VectorX& r, VectorX& z) const;
  /// Of one correction: multiplications and additions.
  double flops() const;

 private:
  using Basis = Eigen::Matrix<double, 3, 6>;
  void divide(const Matrix3X& positions);
  void set_basis(const NearNullSpace& space);
  void factorise(const Rows& a);

  Index aggregates_ = 0;
  std::vector<Index> aggregate_;  ///< of each block
  std::vector<Basis> basis_;      ///< Z: the three rows of each block, in the columns of its aggregate
  Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> factor_;
  bool usable_ = false;
};

}  // namespace apart
