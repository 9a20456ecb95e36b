#pragma once
#include <apart/simulation/model.hpp>

#include <optional>

namespace apart {

/// A joint whose motor, which has no largest force, cannot follow its target in the first step, because
/// joints hold the bodies or another motor drives them differently: no velocities satisfy all of them. None
/// is found if there are none, or the scene is too large to be examined.
std::optional<int> contradicting_joint(const Model& model);

}  // namespace apart
