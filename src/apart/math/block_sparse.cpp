#include <apart/math/block_sparse.hpp>

#include <apart/core/error.hpp>

#include <algorithm>

namespace apart {

BlockSparse::BlockSparse(Index n, std::span<const BlockKey> keys) {
  start_.reserve(n + 1);
  rows_.reserve(keys.size() + n);
  std::size_t k = 0;
  for (Index j = 0; j < n; ++j) {
    rows_.push_back(j);
    for (; k < keys.size() && Index(keys[k] >> 32) == j; ++k) {
      const Index i = Index(keys[k] & 0xffffffffu);
      ensure(i < n, "BlockSparse: pattern outside the matrix");
      if (i != j) rows_.push_back(i);
    }
    start_.push_back(Index(rows_.size()));
  }
  ensure(k == keys.size(), "BlockSparse: pattern outside the matrix");
  values_.assign(9 * rows_.size(), 0.0);
}

Index BlockSparse::find(Index i, Index j) const {
  const auto begin = rows_.begin() + start_[j], end = rows_.begin() + start_[j + 1];
  const auto it = std::lower_bound(begin, end, i);
  return it != end && *it == i ? Index(it - rows_.begin()) : -1;
}

Index BlockSparse::slot(Index i, Index j) const {
  const Index found = find(i, j);
  ensure(found >= 0, "BlockSparse: block outside the pattern");
  return found;
}

double& BlockSparse::at(Index row, Index column) {
  return values_[9 * std::size_t(slot(row / 3, column / 3)) + std::size_t(3 * (column % 3) + row % 3)];
}

double BlockSparse::at(Index row, Index column) const {
  return const_cast<BlockSparse&>(*this).at(row, column);
}

VectorX BlockSparse::multiply(const VectorX& x) const {
  VectorX y = VectorX::Zero(x.size());
  for (Index j = 0; j < block_count(); ++j)
    for (Index k = start_[std::size_t(j)]; k < start_[std::size_t(j) + 1]; ++k) {
      const Index i = rows_[std::size_t(k)];
      const Eigen::Map<const Matrix3> a(values_.data() + 9 * std::size_t(k));
      y.segment<3>(3 * i) += a * x.segment<3>(3 * j);
      if (i != j) y.segment<3>(3 * j) += a.transpose() * x.segment<3>(3 * i);
    }
  return y;
}

}  // namespace apart
