#pragma once
#include <apart/bodies/body.hpp>

namespace apart {

/// What contact takes from a body where the scene says "auto". Obstacles have sizes of their own that say
/// nothing about how fine contact must be: of a pair, the bodies that can be pushed decide, and the smaller
/// value.
struct ContactDefaults {
  double dhat = 0;       ///< d̂ [m]
  double epsv = 0;       ///< ε_v [m/s]
  double tolerance = 0;  ///< of Newton steps [m/s]
  double thickness = 0;  ///< ξ [m]: what the body is as thick as
};

ContactDefaults contact_defaults(const Body& body);

}  // namespace apart
