#pragma once
#include <apart/collision/stencil.hpp>

#include <functional>

namespace apart {

/// Sees the pairs near the surface before each bound of a step x → x + p; surface vertices [m].
using StepBoundObserver = std::function<void(const Candidates&, const Matrix3X& x, const Matrix3X& p)>;

}  // namespace apart
