#pragma once
#include <apart/core/types.hpp>

namespace apart {

/// Largest α ∈ [0, 1] found such that on the whole path x + t p, 0 ≤ t ≤ α, every tetrahedron keeps the share
/// 1 − shrink of its volume (thesis A.4, c = 0.8). Conservative; that no volume vanishes on the straight way
/// to x + α p, rounded, is proven, with exact arithmetic where necessary. 0 if a tetrahedron has no positive
/// volume at x, or for NaN or infinite input.
double inversion_free_step(const Tetrahedra& tetrahedra, const Matrix3X& x, const Matrix3X& p,
                           double shrink = 0.8);

}  // namespace apart
