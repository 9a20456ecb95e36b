#pragma once
#include <apart/remesh/volume_remesher.hpp>

namespace apart {

/// Splits and collapses edges of planar bodies by the rule of make_volume_remesher, with areas in place of
/// volumes. Bodies must be planar with consistent mass.
std::shared_ptr<const Remesher> make_planar_remesher(std::vector<RemeshOptions> options);

/// One remesher after the other; either may be missing.
std::shared_ptr<const Remesher> joined(std::shared_ptr<const Remesher> first,
                                       std::shared_ptr<const Remesher> second);

}  // namespace apart
