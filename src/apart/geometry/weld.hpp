#pragma once
#include <apart/geometry/mesh.hpp>

namespace apart {

/// Joins points that lie within `tolerance` ≥ 0 [m] of one before them: many programs write a point once for
/// each triangle or patch that uses it, and the pieces would fall apart. Corners of one cell are not joined.
/// Points that were joined are left out, the others keep their order; cells, groups and texture follow.
/// Returns how many were left out. Free points alone (no other cells) stay as they are. Near-linear in the
/// number of points.
Index weld_points(Mesh& mesh, double tolerance);

}  // namespace apart
