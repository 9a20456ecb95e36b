#pragma once
#include <apart/geometry/exact_intersection.hpp>
#include <apart/io/frame.hpp>

namespace apart::verify {

/// Everything of a frame's mesh that can touch: the outside of its tetrahedra, its triangles, segments and
/// free points.
exact::Surface surface_of(const Mesh& mesh);

}  // namespace apart::verify
