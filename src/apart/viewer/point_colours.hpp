#pragma once
#include <apart/viewer/render.hpp>
#include <apart/viewer/shapes.hpp>

namespace apart {

/// Of every point; empty without colouring. Points without a number are grey.
Matrix3Xf point_colours(const Frame& frame, const std::optional<Colouring>& colouring);

}  // namespace apart
