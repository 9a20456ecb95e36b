#include <apart/potentials/barrier.hpp>

#include <cmath>
#include <limits>

namespace apart {

Barrier barrier(double s, double s_hat) {
  if (s >= s_hat) return {};
  if (!(s > 0)) return {std::numeric_limits<double>::infinity(), 0, 0};
  const double log_ratio = std::log(s / s_hat), excess = s - s_hat, relative = excess / s;
  return {-excess * excess * log_ratio, -excess * (2 * log_ratio + relative),
          -2 * log_ratio - 4 * relative + relative * relative};
}

}  // namespace apart
