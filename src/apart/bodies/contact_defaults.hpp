#pragma once
#include <apart/bodies/body.hpp>

namespace apart {

/// Contact settings that a body implies where the scene says "auto". The size of an obstacle says nothing
/// about how fine contact must be: of a pair, the bodies that can be pushed decide, with the smaller value.
struct ContactDefaults {
  double dhat = 0;       ///< d̂ [m]
  double epsv = 0;       ///< ε_v [m/s]
  double tolerance = 0;  ///< of Newton steps [m/s]
  double thickness = 0;  ///< ξ [m]: the body's own thickness
};

/// `scene_size` [m]: stands for that of a body without extent, a single point.
ContactDefaults contact_defaults(const Body& body, double scene_size);

}  // namespace apart
