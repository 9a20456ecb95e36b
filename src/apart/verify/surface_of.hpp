#pragma once
#include <apart/geometry/exact_intersection.hpp>
#include <apart/io/frame.hpp>

namespace apart::verify {

/// Everything of a frame that can touch: the outside of its tetrahedra, its triangles, segments and free
/// points; of planar bodies the edges of one triangle only.
exact::Surface surface_of(const Frame& frame);

}  // namespace apart::verify
