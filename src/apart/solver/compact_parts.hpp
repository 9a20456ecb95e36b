#pragma once
#include <apart/core/types.hpp>

#include <vector>

namespace apart {

/// Points divided into parts of at most `largest` that are close together: halved along the longest side of
/// their box until they are small enough. Parts are numbered from 0.
struct CompactParts {
  CompactParts(const Matrix3X& positions, Index largest);
  std::vector<Index> of;  ///< the part of each point
  Index count = 0;
};

}  // namespace apart
