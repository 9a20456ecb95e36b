#pragma once
#include <apart/core/types.hpp>
#include <apart/solver/multifrontal.hpp>
#include <apart/solver/near_null_space.hpp>

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
  CoarseSpace(const NearNullSpace& space, const BlockSparse& a);

  /// False also if Zᵀ A Z is not positive definite.
  bool exists() const { return usable_; }
  /// z += Z (Zᵀ A Z)⁻¹ Zᵀ r, where r and z have each block at the given place.
  void add_correction(const VectorX& r, std::span<const Index> places, VectorX& z) const;
  /// Of one correction: multiplications and additions.
  double flops() const;

 private:
  using Basis =
      Eigen::Matrix<float, 3, 6>;  // any basis will do: it need not be exactly that of rigid motions
  void set_basis(const NearNullSpace& space);
  BlockSparse product(const BlockSparse& a) const;

  Index aggregates_ = 0;
  std::vector<Index> aggregate_;      ///< of each block
  std::vector<Index> start_, block_;  ///< of each aggregate, in the list of blocks by aggregates
  std::vector<Basis> basis_;          ///< Z: the three rows of each block, in the columns of its aggregate
  MultifrontalCholesky factor_;       ///< of Zᵀ A Z, two blocks for each aggregate
  double factor_nonzeros_ = 0;
  bool usable_ = false;
};

}  // namespace apart
