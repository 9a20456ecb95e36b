#pragma once
// Formulas of PolyFEM. For the files of this folder only.
#include <apart/io/located_json.hpp>
#include <apart/scene/description_values.hpp>

namespace apart::polyfem {

/// A number, or a formula with the functions that only PolyFEM has written out.
Formula formula(const LocatedJson& value);

/// Where the displacement `at` a place is at t = 0, as far as that is the same everywhere; the displacement
/// itself then begins at zero, as motions do.
Vector3 take_start(FormulaVector& displacement, const LocatedJson& at);

/// Lets a displacement begin at zero, as motions do: one that does not jumps in the first step, as in
/// PolyFEM.
void begin_at_rest(FormulaVector& displacement, const LocatedJson& at);

}  // namespace apart::polyfem
