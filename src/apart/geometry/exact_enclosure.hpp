#pragma once
// Which points lie inside which solids, exactly: by their winding number, the sum over the triangles that a
// ray hits, +1 where it leaves and −1 where it enters.
#include <apart/geometry/exact_intersection.hpp>

#include <span>
#include <vector>

namespace apart::exact {

struct Enclosed {
  Index point;
  int solid;
  auto operator<=>(const Enclosed&) const = default;
};

/// The points of `queries` that lie inside a solid, sorted. A solid is what its triangles enclose: `faces`,
/// consistently oriented, each belonging to the solid `solid_of` its first vertex. Only pairs for which
/// `asked` is true are tested; it may be called from several threads. A point on a triangle may count as
/// inside or outside. Every coordinate must be finite.
std::vector<Enclosed> find_enclosed(const Matrix3X& points, std::span<const Primitive> faces,
                                    std::span<const int> solid_of, std::span<const Index> queries,
                                    FunctionRef<bool(Index point, int solid)> asked);

}  // namespace apart::exact
