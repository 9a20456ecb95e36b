#pragma once
#include <apart/scene/scene_description.hpp>
#include <apart/scene/scene_file.hpp>
#include <apart/simulation/model.hpp>
#include <apart/simulation/probe.hpp>

#include <memory>
#include <string>
#include <vector>

namespace apart {

/// A scene ready to be simulated.
struct Scene {
  std::string name;
  std::shared_ptr<const Model> model;
  Index steps = 0;                         ///< time steps to take
  Index frame_every = 1;                   ///< number of steps from frame to frame
  std::vector<std::string> extra_formats;  ///< of frames, beside VTU
  std::vector<Probe> probes;
  double checkpoint_seconds = 10;         ///< at most so long between two checkpoints, or one step
  std::optional<Index> checkpoint_steps;  ///< also after this number of steps
  std::vector<std::string> notes;         ///< what was changed in meshes, one line each
};

/// Makes meshes, bodies, pair settings and motions of a scene that was read and checked. Throws InputError
/// (file, line, path, body, value, remedy) for everything that cannot be simulated, except bodies that touch
/// at the start: see check_start.
Scene build_scene(const SceneFile& file);

/// The same for a description made in a program, which is checked first as a file would be: places in
/// messages are paths such as "bodies[2].mesh". Relative paths start at the working directory.
Scene build_scene(const SceneDescription& description);

}  // namespace apart
