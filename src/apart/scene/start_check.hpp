#pragma once
#include <apart/io/frame.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/scene_file.hpp>
#include <apart/verify/scene_check.hpp>

namespace apart {

/// What makes a scene impossible to simulate, found with exact predicates: in its initial state, and among
/// the bodies that come in together later, with the obstacles that never move. Where everything else will be
/// then is not known.
struct StartCheck {
  struct Part {
    double time = 0;          ///< when the bodies come in [s]
    std::vector<int> bodies;  ///< that do; at the start, all that are there
    Frame frame;              ///< with everything that was looked at
    SceneCheck found;         ///< `gaps`: pairs not farther apart than their thickness
  };
  std::vector<Part> parts;  ///< the start first, then by time

  const Frame& frame() const { return parts.front().frame; }
  bool ok() const;
  std::vector<verify::Finding> all() const;
};
StartCheck check_start(const Scene& scene);

/// One line for each finding: place in the scene file, bodies, elements, coordinates and what to do.
std::vector<std::string> messages(const StartCheck& check, const SceneFile& file);

/// Throws InputError with these messages if a scene cannot start.
void ensure_feasible_start(const Scene& scene, const SceneFile& file);

}  // namespace apart
