#pragma once
#include <apart/remesh/remeshing.hpp>
#include <apart/scene/body_description.hpp>

namespace apart {

/// What cannot be combined with remeshing, before the body is made.
void check_remeshing(const VolumeDescription& body);
void check_remeshing(const PlanarDescription& body);
void check_remeshing(const ShellDescription& body);

/// How the mesh of a body, the one at `index`, changes. `size`: L of the scene format [m]. A body whose rest
/// shape may change keeps its mass from here on.
RemeshOptions make_remeshing(const RemeshDescription& d, Body& body, int index, const PairTable& pairs,
                             double size);

/// A note for the user if delta_split has the size of an energy in other units.
std::optional<std::string> unusual_gain(const RemeshDescription& d, const Body& body, double gravity);

}  // namespace apart
