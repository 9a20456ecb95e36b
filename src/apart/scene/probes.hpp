#pragma once
#include <apart/io/located_json.hpp>
#include <apart/simulation/model.hpp>
#include <apart/simulation/probe.hpp>

namespace apart {

/// The probe that an object of the catalog's group "probe" describes, of the bodies that it names. Throws
/// InputError if there is nothing to measure. `renumbered`: one of the bodies' meshes had points of no cell.
Probe read_probe(const LocatedJson& v, const Model& model, std::vector<int> bodies, std::vector<int> others,
                 bool renumbered);

}  // namespace apart
