#include <apart/collision/box_tree.hpp>

namespace apart {

std::unique_ptr<BroadPhase> make_bvh(const CollisionSurface& surface) {
  return make_box_broad_phase(surface, std::make_unique<BoxSearchOf<BoxTree>>());
}

}  // namespace apart
