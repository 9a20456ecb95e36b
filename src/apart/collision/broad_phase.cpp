#include <apart/collision/broad_phase.hpp>
#include <apart/core/error.hpp>

#include <string>

namespace apart {

std::span<const BroadPhaseMethod> broad_phase_methods() {
  static constexpr BroadPhaseMethod methods[] = {
      {"bvh", "bounding volume hierarchy: eight children per node, refitted as the surface moves", make_bvh},
      {"brute_force", "every box against every box: slow and simple, to check the others with",
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
