#include <apart/solver/barrier_stiffness.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

StiffnessRange stiffness_range(double mean_mass, double size, double dhat) {
  const double d2 = 1e-16 * size * size;
  // Beyond d̂ the barrier has no curvature; a d̂ that small is measured at half of it instead.
  const double at = std::min(d2, 0.25 * dhat * dhat);
  const double low = 1e11 * mean_mass / (4 * at * barrier(at, dhat * dhat).second);
  return {low, 100 * low};
}

double balanced_stiffness(const VectorX& energy_gradient, const VectorX& contact_gradient,
                          const StiffnessRange& range) {
  const double norm2 = contact_gradient.squaredNorm();
  if (!(norm2 > 0)) return range.low;
  return std::clamp(-contact_gradient.dot(energy_gradient) / norm2, range.low, range.high);
}

bool is_squeezing(const ActiveSet& before, const Matrix3X& x_before, const ActiveSet& after,
                  const Matrix3X& x_after, double tiny) {
  if (before.min_distance >= tiny && after.min_distance >= tiny) {
    // Thickness shifts distances up: only contacts with one can still have a tiny gap.
    const auto thick = [](const Contact& c) { return c.thickness > 0; };
    if (std::none_of(after.contacts.begin(), after.contacts.end(), thick)) return false;
  }
  const auto gap = [](const Contact& c, const Matrix3X& x) {
    return std::sqrt(squared_distance(c.stencil.kind, c.stencil.gather(x))) - c.thickness;
  };
  // The same stencil in both sets. Lists are sorted with mollified contacts last, so a plain search by
  // stencil is done only for the few that are tiny now.
  for (const Contact& c : after.contacts) {
    const double now = gap(c, x_after);
    if (now >= tiny) continue;
    for (const Contact& b : before.contacts) {
      if (b.stencil != c.stencil) continue;
      const double then = gap(b, x_before);
      if (then < tiny && now < then) return true;
      break;
    }
  }
  return false;
}

}  // namespace apart
