#pragma once
#include <cmath>

namespace apart {

/// ln σ of a stretch σ > 0, accurate near rest and down to the smallest σ: σ − 1 holds all digits of σ only
/// where σ > ½.
inline double log_strain(double sigma) {
  return sigma > 0.5 ? std::log1p(sigma - 1) : std::log(sigma);
}

}  // namespace apart
