#pragma once

namespace apart {

/// What decides about splits and collapses: the decrease of the step's potential, or the lengths of edges
/// where the step ended against a sizing field, for comparison. [thesis 6.4]
enum class RemeshCriterion { potential, sizing_field };

}  // namespace apart
