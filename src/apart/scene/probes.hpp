#pragma once
#include <apart/scene/scene_description.hpp>
#include <apart/scene/selection.hpp>
#include <apart/simulation/model.hpp>
#include <apart/simulation/probe.hpp>

namespace apart {

/// The bodies of a model that a probe measures.
struct ProbedBodies {
  std::vector<int> bodies, others;
  std::vector<PlacedMesh> placed;  ///< the mesh of each of `bodies`
};

/// Throws InputError if there is nothing to measure.
Probe make_probe(const ProbeDescription& probe, const Model& model, const ProbedBodies& of);

}  // namespace apart
