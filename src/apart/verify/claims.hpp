#pragma once
// What frames claim besides positions, and what the scene of their run says.
#include <apart/io/frame.hpp>
#include <apart/verify/joints.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace apart::verify {

/// What the scene of a run says, made from its scene.json by a layer that can read it.
struct SceneClaims {
  /// Why the scene could not be read, or not be built; then nothing else is known of it.
  std::string trouble;
  Frame start;            ///< the state before the first step, with all that frames claim
  double dt = 0;          ///< [s]
  Index frame_every = 1;  ///< a frame after so many steps, and after the last
  /// Bodies that are absent in a step, ascending.
  std::function<std::vector<int>(Index step)> absent;
  std::vector<JointClaim> joints = {};  ///< all that cannot break
};

/// The first thing in which the first frame of a run is not what the scene says, as the end of a sentence
/// that begins with the frame. Lengths and places may differ by a billionth of the scene: another machine may
/// round differently.
std::optional<std::string> difference_to_scene(const Frame& first, const Frame& scene);

}  // namespace apart::verify
