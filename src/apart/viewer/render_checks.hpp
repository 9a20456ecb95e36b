#pragma once
#include <apart/viewer/render.hpp>

namespace apart {

/// Throws InputError if a frame is damaged, or cannot be drawn with these options.
void check_drawable(const Frame& frame, const RenderOptions& options);

/// The camera to draw a frame with; what single precision cannot show from there is refused.
Camera chosen_camera(const Frame& frame, const RenderOptions& options);

}  // namespace apart
