#pragma once
#include <apart/scene/scene_description.hpp>
#include <apart/scene/selection.hpp>
#include <apart/simulation/model.hpp>
#include <apart/simulation/probe.hpp>

namespace apart {

/// The bodies that a probe measures.
struct ProbedBodies {
  std::vector<int> bodies, others;
  std::vector<PlacedMesh> placed;  ///< the mesh of each of `bodies`
  int joint = -1;                  ///< instead of bodies
};

/// The bodies get the sets of points that the probe measures. Throws InputError if there is nothing to
/// measure.
Probe make_probe(const ProbeDescription& probe, std::vector<Body>& bodies, const ProbedBodies& of);

}  // namespace apart
