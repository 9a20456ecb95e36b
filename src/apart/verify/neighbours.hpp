#pragma once
#include <apart/geometry/exact_intersection.hpp>

#include <vector>

namespace apart::verify {

/// Primitives that share one vertex or more, and could meet in more than that: triangles with an edge in
/// common, segments with an end in common, segments that end at a triangle. Sorted. Of primitives with a
/// vertex that `counts`.
std::vector<exact::PrimitivePair> find_neighbours(Index point_count, const exact::Surface& surface,
                                                  FunctionRef<bool(Index point)> counts);

/// For each pair of neighbours: whether they meet in more than what they share.
std::vector<char> find_folded(const Matrix3X& points, const std::vector<exact::PrimitivePair>& neighbours);

}  // namespace apart::verify
