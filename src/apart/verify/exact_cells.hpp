#pragma once
#include <apart/core/types.hpp>
#include <apart/verify/cell_polynomials.hpp>

namespace apart::verify {

/// Whether the determinant of a curved cell is positive everywhere while its points (3 × n) move on straight
/// lines, from one share of their way to another: in fractions, so that no rounding leaves it undecided. What
/// touches zero is not positive; what comes extremely close to it inside may stay unproven. Slow.
bool is_positive_exactly(const CellPolynomials& cell, const Matrix3X& from, const Matrix3X& to, double begin,
                         double end);

}  // namespace apart::verify
