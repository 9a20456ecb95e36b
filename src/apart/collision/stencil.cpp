#include <apart/collision/stencil.hpp>

#include <cmath>

namespace apart {

ContactRange own_range(const CollisionSurface& surface, const Stencil& s, const PairSettings& settings) {
  const double reach = settings.thickness + settings.dhat;
  const double squared = squared_distance(s.kind, s.gather(surface.rest));
  if (!(squared < reach * reach)) return {settings.thickness, settings.dhat};
  const double scale = std::sqrt(squared) / (2 * reach);
  return {scale * settings.thickness, scale * settings.dhat, true};
}

double sure_distance(PairKind kind, const StencilPoints& points, const Vector3& r) {
  double least = infinity, size = 0;
  for (int a = 0; a < first_count(kind); ++a)
    for (int b = first_count(kind); b < point_count(kind); ++b) {
      const Vector3 apart = points[std::size_t(a)] - points[std::size_t(b)];
      least = std::min(least, r.dot(apart));
      size += apart.lpNorm<1>();
    }
  const double length = r.norm();
  return length > 0 ? least / length - 1e-14 * size : 0;
}

}  // namespace apart
