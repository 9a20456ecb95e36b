#pragma once
#include <apart/io/located_json.hpp>
#include <apart/scene/selection.hpp>
#include <apart/simulation/model.hpp>
#include <apart/simulation/probe.hpp>

namespace apart {

/// The probe that an object of the catalog's group "probe" describes, of the bodies that it names. Throws
/// InputError if there is nothing to measure. `placed`: the mesh of each of `bodies`.
Probe read_probe(const LocatedJson& v, const Model& model, std::vector<int> bodies, std::vector<int> others,
                 const std::vector<PlacedMesh>& placed);

}  // namespace apart
