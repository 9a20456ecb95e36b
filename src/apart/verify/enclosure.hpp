#pragma once
// Which points lie inside which solids, exactly: by the parity of the triangles that a ray meets.
#include <apart/geometry/exact_intersection.hpp>

#include <span>
#include <vector>

namespace apart::verify {

struct Enclosed {
  Index point;
  int solid;
  auto operator<=>(const Enclosed&) const = default;
};

/// The points of `queries` that lie inside a solid, sorted. A solid is what its triangles enclose: `faces`,
/// of which each belongs to the solid that `solid_of` gives for its first vertex. Only what `asked` says is
/// looked at; it may be called from several threads. A point on a triangle may count as inside or outside.
/// Every coordinate must be finite.
std::vector<Enclosed> find_enclosed(const Matrix3X& points, std::span<const exact::Primitive> faces,
                                    std::span<const int> solid_of, std::span<const Index> queries,
                                    FunctionRef<bool(Index point, int solid)> asked);

}  // namespace apart::verify
