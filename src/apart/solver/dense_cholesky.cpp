#include <apart/solver/dense_cholesky.hpp>

namespace apart {

bool DenseCholesky::factorise(const BlockSparse& a) {
  full_.setZero(3 * a.block_count(), 3 * a.block_count());  // LLT reads the lower triangle
  for (Index j = 0; j < a.block_count(); ++j)
    for (Index k = a.column_start()[std::size_t(j)]; k < a.column_start()[std::size_t(j) + 1]; ++k)
      full_.block<3, 3>(3 * a.block_rows()[std::size_t(k)], 3 * j) = a.block(k);
  llt_.compute(full_);
  return llt_.info() == Eigen::Success;
}

}  // namespace apart
