#pragma once
#include <apart/io/frame.hpp>

#include <optional>
#include <string>

namespace apart::verify {

/// What the first difference between meshes, bodies, half-spaces or ignored pairs of two frames of a run is.
std::optional<std::string> difference(const Frame& first, const Frame& frame);

/// The same, but for meshes: what frames of all topologies of a run have in common.
std::optional<std::string> difference_of_bodies(const Frame& first, const Frame& frame);

}  // namespace apart::verify
