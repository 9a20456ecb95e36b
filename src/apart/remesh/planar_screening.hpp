#pragma once
// What operations on a planar body would change the step's potential, estimated from the solved step for all
// of them at once; screening.hpp in the plane. Energies are in joules.
#include <apart/remesh/planar_editor.hpp>
#include <apart/remesh/screening.hpp>

namespace apart {

std::vector<SplitEstimate> estimate_splits(const SolvedStep& step, int body, const PlanarEditor& editor);
std::vector<CollapseEstimate> estimate_collapses(const SolvedStep& step, int body, const PlanarEditor& editor,
                                                 Index first);

}  // namespace apart
