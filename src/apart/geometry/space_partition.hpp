#pragma once
#include <apart/core/types.hpp>

#include <vector>

namespace apart {

/// Divides points into parts of nearly equal number that are compact: halves them across the longest side of
/// their box, again and again. Returns the part of each point, in [0, parts). Depends on the points alone.
std::vector<int> divide_space(const Matrix3X& points, int parts);

}  // namespace apart
