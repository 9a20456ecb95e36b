#include <apart/solver/free_coordinates.hpp>

namespace apart {

FreeCoordinates::FreeCoordinates(Eigen::Array<bool, 3, Eigen::Dynamic> free) : free_(std::move(free)) {
  block_.assign(free_.cols(), -1);
  for (Index n = 0; n < free_.cols(); ++n)
    if (free_.col(n).any()) {
      block_[n] = Index(node_.size());
      for (int axis = 0; axis < 3; ++axis)
        if (!free_(axis, n)) held_.emplace_back(block_[n], axis);
      node_.push_back(n);
    }
}

VectorX FreeCoordinates::restrict_to_free(const Matrix3X& g) const {
  VectorX r(3 * block_count());
  for (Index b = 0; b < block_count(); ++b)
    for (int axis = 0; axis < 3; ++axis) r[3 * b + axis] = free_(axis, node_[b]) ? g(axis, node_[b]) : 0.0;
  return r;
}

Matrix3X FreeCoordinates::extend(const VectorX& r) const {
  Matrix3X p = Matrix3X::Zero(3, free_.cols());
  for (Index b = 0; b < block_count(); ++b) p.col(node_[b]) = r.segment<3>(3 * b);
  return p;
}

}  // namespace apart
