#pragma once
#include <apart/remesh/field_transfer.hpp>

namespace apart {

/// What CollapseTransfer needs of two meshes of a planar body or a shell: ∫ρ φ²_i (u₁ − I u₁) over the cells
/// that have changed, cut at each other. `points`: of `after`, where they are in `before`.
std::vector<CollapseTransfer::Entry> plane_entries(const Body& before, const Body& after,
                                                   const std::vector<Blend>& points,
                                                   std::vector<CollapseTransfer::Entry>* squares);

}  // namespace apart
