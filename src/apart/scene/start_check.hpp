#pragma once
#include <apart/io/frame.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/scene_file.hpp>
#include <apart/verify/scene_check.hpp>

namespace apart {

/// The initial state of a scene, and what makes it impossible to simulate, found with exact predicates.
struct StartCheck {
  Frame frame;
  SceneCheck found;  ///< `gaps`: pairs not farther apart than their thickness

  bool ok() const { return found.ok(); }
  std::vector<verify::Finding> all() const;
};
StartCheck check_start(const Scene& scene);

/// One line for each finding: place in the scene file, bodies, elements, coordinates and what to do.
std::vector<std::string> messages(const StartCheck& check, const SceneFile& file);

/// Throws InputError with these messages if a scene cannot start.
void ensure_feasible_start(const Scene& scene, const SceneFile& file);

}  // namespace apart
