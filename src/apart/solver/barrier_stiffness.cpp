#include <apart/solver/barrier_stiffness.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

StiffnessRange stiffness_range(double mean_mass, double size, double dhat) {
  const double d2 = 1e-16 * size * size;
  // Beyond d̂ the barrier has no curvature; a d̂ that small is measured at half of it instead.
  const double at = std::min(d2, 0.25 * dhat * dhat);
  const double low = 1e11 * mean_mass / (4 * at * barrier(at, dhat * dhat).second);
  return {low, 100 * low, 1e10 * low};
}

double followed_stiffness(double last, double wanted, const StiffnessRange& range, double share) {
  const double most = std::exp2(share);
  double next = last;
  if (wanted > 1.5 * last)
    next = std::min(wanted, most * last);
  else if (wanted > 0 && wanted < last / 4)
    next = std::max(2 * wanted, last / most);
  return std::clamp(next, range.low, range.limit);
}

double balanced_stiffness(const VectorX& energy_gradient, const VectorX& contact_gradient,
                          const StiffnessRange& range) {
  const double norm2 = contact_gradient.squaredNorm();
  if (!(norm2 > 0)) return range.low;
  return std::clamp(-contact_gradient.dot(energy_gradient) / norm2, range.low, range.high);
}

bool is_squeezing(const CollisionSurface& surface, const ContactsAt& before, const ContactsAt& after,
                  double tiny) {
  if (before.active.min_gap >= tiny || after.active.min_gap >= tiny) return false;
  const auto gap = [](const Contact& c, const Matrix3X& x) {
    return std::sqrt(squared_distance(c.stencil.kind, c.stencil.gather(x))) - c.thickness;
  };
  const auto plane_gap = [&](const PlaneContact& c, const Matrix3X& x) {
    const HalfSpace& plane = surface.half_spaces[c.plane];
    return plane.distance(x, c.vertex) - surface.pairs(surface.vertex_body[c.vertex], plane.body).thickness;
  };
  // The same contact in both sets; searched only for the few that are tiny now.
  const auto squeezed = [&](const auto& now, const auto& then, const auto& same, const auto& gap_of) {
    for (const auto& c : now) {
      const double gap_now = gap_of(c, after.x);
      if (gap_now >= tiny) continue;
      const auto b = std::ranges::find_if(then, [&](const auto& other) { return same(other, c); });
      if (b == then.end()) continue;
      const double gap_then = gap_of(*b, before.x);
      if (gap_then < tiny && gap_now < gap_then) return true;
    }
    return false;
  };
  return squeezed(
             after.active.contacts, before.active.contacts,
             [](const Contact& a, const Contact& b) {
               return a.stencil == b.stencil && a.thickness == b.thickness;
             },
             gap) ||
         squeezed(
             after.active.plane_contacts, before.active.plane_contacts,
             [](const PlaneContact& a, const PlaneContact& b) {
               return a.vertex == b.vertex && a.plane == b.plane;
             },
             plane_gap);
}

}  // namespace apart
