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

}  // namespace apart
