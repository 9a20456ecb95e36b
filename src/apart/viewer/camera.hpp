#pragma once
#include <apart/io/frame.hpp>

#include <span>

namespace apart {

/// Where a picture is taken from. [m], world.
struct Camera {
  Vector3 eye = Vector3(0, 0, 1);
  Vector3 target = Vector3::Zero();  ///< in the middle of the picture, and in focus of light and ground
  Vector3 up = Vector3::UnitY();
  double field_of_view = 30;  ///< [degrees] of the picture's height
  double scene_size = 1;      ///< [m] size of the scene; thin bodies and light are scaled by it
};

/// A three-quarter view from above that shows all simulated bodies and the obstacles near them; giant
/// obstacles and half-spaces are shown as far as they surround the bodies. If obstacles hide the bodies, it
/// looks down more steeply. Of many pieces, such as grains, a few that have strayed far are left out. Depends
/// on the frame and `aspect` (width / height) alone.
Camera automatic_camera(const Frame& frame, double aspect);

/// The same for what happens over several frames of one run. Bodies in free flight need not be in the picture
/// until they are near to where they come to rest, unless it would be little wider with them.
Camera automatic_camera(std::span<const Frame> frames, double aspect);

}  // namespace apart
