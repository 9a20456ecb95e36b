#pragma once
#include <apart/geometry/mesh.hpp>

namespace apart {

/// Merges points within `tolerance` ≥ 0 [m] of an earlier one: many programs write a point once for each
/// triangle or patch that uses it, which would leave the pieces disconnected. Corners of one cell are not
/// merged. Merged points are dropped, the others keep their order; cells, groups and texture follow. Returns
/// how many were dropped. Free points alone (no other cells) stay as they are. Near-linear in the number of
/// points.
Index weld_points(Mesh& mesh, double tolerance);

}  // namespace apart
