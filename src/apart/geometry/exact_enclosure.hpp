#pragma once
// Which points lie inside which solids, exactly: by their winding number, which the triangles that a ray
// meets add up to, those that it leaves by as 1 and those that it enters by as −1.
#include <apart/geometry/exact_intersection.hpp>

#include <span>
#include <vector>

namespace apart::exact {

struct Enclosed {
  Index point;
  int solid;
  auto operator<=>(const Enclosed&) const = default;
};

/// The points of `queries` that lie inside a solid, sorted. A solid is what its triangles go around:
/// `faces`, which face alike, of which each belongs to the solid that `solid_of` gives for its first vertex.
/// Only what `asked` says is looked at; it may be called from several threads. A point on a triangle may
/// count as inside or outside. Every coordinate must be finite.
std::vector<Enclosed> find_enclosed(const Matrix3X& points, std::span<const Primitive> faces,
                                    std::span<const int> solid_of, std::span<const Index> queries,
                                    FunctionRef<bool(Index point, int solid)> asked);

}  // namespace apart::exact
