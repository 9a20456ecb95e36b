#pragma once
#include <apart/viewer/shapes.hpp>

namespace apart {

/// The obstacles that hide a part of the simulated bodies worth seeing from the eye, as bodies of the frame.
std::vector<int> hiding_obstacles(const std::vector<Shape>& shapes, const Vector3f& eye);

}  // namespace apart
