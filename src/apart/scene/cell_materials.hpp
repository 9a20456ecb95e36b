#pragma once
#include <apart/bodies/body.hpp>
#include <apart/scene/body_description.hpp>
#include <apart/scene/selection.hpp>

namespace apart {

/// What each tetrahedron of a body of type volume is made of: its material, that of the last of its regions
/// which holds the cell, with numbers of the mesh's cell data where it asks for them. Throws InputError that
/// names the field, or the cell whose number is out of range.
CellSubstances make_cell_substances(const VolumeDescription& body, const PlacedMesh& placed);

}  // namespace apart
