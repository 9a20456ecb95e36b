#pragma once
// Formulas of PolyFEM. For the files of this folder only.
#include <apart/io/located_json.hpp>
#include <apart/scene/description_values.hpp>

namespace apart::polyfem {

/// A number, or a formula with the functions that only PolyFEM has written out.
Formula formula(const LocatedJson& value);

/// Where a displacement is at t = 0, as far as that is the same everywhere; the displacement itself then
/// begins at zero, as motions do.
Vector3 take_start(FormulaVector& displacement);

}  // namespace apart::polyfem
