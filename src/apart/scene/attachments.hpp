#pragma once
#include <apart/io/located_json.hpp>
#include <apart/scene/prescriber.hpp>
#include <apart/simulation/model.hpp>

namespace apart {

/// The springs that an object of the catalog's group "attachment" puts between bodies a and b. `reach`: how
/// far apart points may be to be attached [m]; `placed`: the mesh of a. Throws InputError if nothing is
/// attached.
std::vector<Attachment> read_attachment(const LocatedJson& v, const std::vector<Body>& bodies, int a, int b,
                                        const PlacedMesh& placed, double reach, const Clock& clock);

/// The springs of one with given points (the catalog's row "stitches"). `length`: at rest [m]; `renumbered`:
/// one of the meshes had points of no cell.
std::vector<Attachment> read_stitches(const LocatedJson& v, const std::vector<Body>& bodies, int a, int b,
                                      double length, bool renumbered, const Clock& clock);

}  // namespace apart
