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

void BlockSparse::add(Index slot, Index j, const Matrix3& block) {
  const Index length = start_[j + 1] - start_[j];
  double* v = values_.data() + 9 * std::size_t(start_[j]) + 3 * (slot - start_[j]);
  for (int c = 0; c < 3; ++c, v += 3 * length)
    for (int r = 0; r < 3; ++r) v[r] += block(r, c);
}

Matrix3 BlockSparse::block(Index slot, Index j) const {
  const Index length = start_[j + 1] - start_[j];
  const double* v = values_.data() + 9 * std::size_t(start_[j]) + 3 * (slot - start_[j]);
  Matrix3 result;
  for (int c = 0; c < 3; ++c, v += 3 * length)
    for (int r = 0; r < 3; ++r) result(r, c) = v[r];
  return result;
}

double& BlockSparse::at(Index row, Index column) {
  const Index j = column / 3, length = start_[j + 1] - start_[j];
  const Index k = slot(row / 3, j) - start_[j];
  return values_[9 * std::size_t(start_[j]) + 3 * (std::size_t(column % 3) * length + k) + row % 3];
}

double BlockSparse::at(Index row, Index column) const {
  return const_cast<BlockSparse&>(*this).at(row, column);
}

VectorX BlockSparse::multiply(const VectorX& x) const {
  VectorX y = VectorX::Zero(x.size());
  for (Index j = 0; j < block_count(); ++j) {
    const Index length = start_[j + 1] - start_[j];
    for (Index k = 0; k < length; ++k) {
      const Index i = rows_[start_[j] + k];
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) {
          const double v = values_[9 * std::size_t(start_[j]) + 3 * (std::size_t(c) * length + k) + r];
          y[3 * i + r] += v * x[3 * j + c];
          if (i != j) y[3 * j + c] += v * x[3 * i + r];
        }
    }
  }
  return y;
}

}  // namespace apart
