#pragma once

namespace apart {

/// b(s) = −(s − ŝ)² ln(s/ŝ) for 0 < s < ŝ, 0 beyond, and its derivatives: C² at ŝ. [thesis eq. 2.6]
/// Arguments are squared distances: s = d² − ξ², ŝ = 2ξd̂ + d̂² for thickness ξ. [thesis A.10, C-IPC §5.1]
struct Barrier {
  double value = 0;   ///< [m⁴]
  double first = 0;   ///< ∂b/∂s ≤ 0 [m²]
  double second = 0;  ///< ∂²b/∂s² ≥ 0

  Barrier& operator*=(double factor) {
    value *= factor;
    first *= factor;
    second *= factor;
    return *this;
  }
};
/// Infinite value for s ≤ 0.
Barrier barrier(double s, double s_hat);

/// ŝ of thickness ξ and reach d̂.
inline double barrier_reach(double thickness, double dhat) {
  return (2 * thickness + dhat) * dhat;
}

}  // namespace apart
