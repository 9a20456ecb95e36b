#pragma once
#include <apart/io/frame.hpp>

#include <nlohmann/json_fwd.hpp>

namespace apart {

/// How far gaps of a run are shown [m]: twice the distance at which contact begins, so that what is about to
/// touch is seen too. `scene` and `summary`: what the run's files of these names hold, null if they cannot be
/// read; without them, from the size of the frame.
double contact_reach(const nlohmann::json& scene, const nlohmann::json& summary, const Frame& frame);

}  // namespace apart
