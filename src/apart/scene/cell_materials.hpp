#pragma once
#include <apart/bodies/body.hpp>
#include <apart/io/located_json.hpp>
#include <apart/scene/selection.hpp>

namespace apart {

/// What the body of a scene file is made of as a whole. Throws InputError if the file gives a number for each
/// cell.
Substance read_substance(const LocatedJson& material);

/// What each tetrahedron of a body of type volume is made of: its material, that of the last of its regions
/// which holds the cell, with numbers of the mesh's cell data where it asks for them. Throws InputError that
/// names the field, or the cell whose number is out of range.
CellSubstances read_cell_substances(const LocatedJson& body, const PlacedMesh& placed);

}  // namespace apart
