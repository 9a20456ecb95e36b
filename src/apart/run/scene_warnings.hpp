#pragma once
#include <apart/run/scene_report.hpp>

namespace apart {

/// Sizes that look like a mistake in units, settings known to be slow or to give poor results: a sentence
/// each, with what to do.
std::vector<std::string> warnings(const Scene& scene, const std::vector<BodyReport>& bodies);

}  // namespace apart
