#pragma once
#include <apart/io/frame.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/scene_file.hpp>
#include <apart/verify/scene_check.hpp>

namespace apart {

/// What makes a scene impossible to simulate, found with exact predicates: in its initial state, and when
/// bodies appear later, with those that appear at the same time and with obstacles that never move. Where
/// everything else will be then is not known.
struct StartCheck {
  struct Part {
    std::vector<int> bodies;  ///< that are present at the start, or that appear later
    Frame frame;              ///< lists which bodies and pairs were checked
    SceneCheck found;         ///< `gaps`: pairs not farther apart than their thickness
  };
  std::vector<Part> parts;  ///< the start; then, if there are bodies that appear later, all of them together

  const Frame& frame() const { return parts.front().frame; }
  bool ok() const;
  std::vector<verify::Finding> all() const;
};
StartCheck check_start(const Scene& scene);

/// Bodies that appear later at a place that is inside a solid at the start, one line each. The solid may have
/// moved away by then, so the scene is not refused; the run stops if it has not.
std::vector<std::string> nested_later(const Scene& scene);

/// One line for each kind of finding between the same bodies: place in the scene file, bodies, elements and
/// coordinates of the first, how many more there are, and what to do.
std::vector<std::string> messages(const StartCheck& check, const SceneFile& file);

/// Throws InputError with these messages if a scene cannot start.
void ensure_feasible_start(const Scene& scene, const SceneFile& file);

}  // namespace apart
