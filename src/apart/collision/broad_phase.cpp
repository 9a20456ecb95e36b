#include <apart/collision/broad_phase.hpp>
#include <apart/core/error.hpp>

#include <algorithm>
#include <string>

namespace apart {

std::optional<Candidates> BroadPhase::find_at_most(std::size_t limit, const Matrix3X& x0, const Matrix3X& x1,
                                                   double radius) {
  std::optional<Candidates> found = Candidates();
  for_each_block(std::max<std::size_t>(limit, 1), x0, x1, radius, [&](std::span<const Stencil> block) {
    if (found->empty() && block.size() <= limit) {
      found->assign(block.begin(), block.end());
    } else {
      found.reset();
    }
    return found.has_value();
  });
  return found;
}

std::span<const BroadPhaseMethod> broad_phase_methods() {
  static constexpr BroadPhaseMethod methods[] = {
      {"bvh", "bounding volume hierarchy: eight children per node, refitted as the surface moves", make_bvh},
      {"sweep_and_prune", "boxes sorted along the axis on which they overlap least", make_sweep_and_prune},
      {"spatial_hash", "hashed grids, one for each size of boxes", make_spatial_hash},
      {"brute_force", "every box against every box: slow and simple, a reference for the others",
       make_brute_force},
  };
  return methods;
}

std::unique_ptr<BroadPhase> make_broad_phase(std::string_view name, const CollisionSurface& surface) {
  std::string known;
  for (const BroadPhaseMethod& method : broad_phase_methods()) {
    if (method.name == name) return method.make(surface);
    if (!known.empty()) known += ", ";
    known += method.name;
  }
  throw InputError("broad_phase: got '{}', must be one of: {}", name, known);
}

}  // namespace apart
