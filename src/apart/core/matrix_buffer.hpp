#pragma once
#include <apart/core/types.hpp>

namespace apart {

/// Memory for matrices that are needed one after the other: it grows to the largest, and no other allocates.
class MatrixBuffer {
 public:
  using Matrix = Eigen::Map<Eigen::MatrixXd, Eigen::AlignedMax>;
  /// A matrix of this size, with any entries. The one before is lost.
  Matrix shaped(Index rows, Index cols) {
    const std::size_t size = std::size_t(rows) * std::size_t(cols);
    if (values_.size() < size) values_.resize(size);
    return {values_.data(), rows, cols};
  }

 private:
  AlignedBuffer values_;
};

}  // namespace apart
