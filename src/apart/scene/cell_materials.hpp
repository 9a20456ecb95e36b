#pragma once
#include <apart/bodies/body.hpp>
#include <apart/scene/body_description.hpp>
#include <apart/scene/selection.hpp>

namespace apart {

/// The material of each tetrahedron of a volume: that of the body, or of the last region that contains the
/// cell, with values from the mesh's cell data where it asks for them. Throws InputError that names the
/// field, or the cell whose number is out of range.
CellSubstances make_cell_substances(const VolumeDescription& body, const PlacedMesh& placed);
/// The same of each triangle of a planar body, whose materials have the same values everywhere.
CellSubstances make_cell_substances(const PlanarDescription& body, const PlacedMesh& placed);

}  // namespace apart
