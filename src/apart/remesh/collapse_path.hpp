#pragma once
#include <apart/remesh/placed_surface.hpp>

namespace apart {

/// Whether a surface point of a body can move onto its neighbour, `points` = {moved, neighbour}, in a
/// straight line from where a step ended, without its facets meeting anything on the way: so that a collapse
/// sweeps over nothing, however thin. Primitives of the neighbour do not count: the two become one.
bool way_is_free(const Model& model, const PlacedSurface& placed, int body,
                 const std::array<Index, 2>& points);

}  // namespace apart
