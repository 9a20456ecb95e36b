#pragma once
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
  Index frame_every = 1;                   ///< a frame after so many steps
  std::vector<std::string> extra_formats;  ///< of frames, beside VTU
  std::vector<Probe> probes;
  double checkpoint_seconds = 10;         ///< at most so long between two checkpoints, or one step
  std::optional<Index> checkpoint_steps;  ///< another one after so many steps
  std::vector<std::string> notes;         ///< what was changed in meshes, one line each
};

/// Makes meshes, bodies, pair settings and motions. Throws InputError (file, line, path, body, value, remedy)
/// for everything that cannot be simulated, except bodies that touch at the start: see check_start.
Scene build_scene(const SceneFile& file);

/// What a copy of an array is called, counted from 0, and whether a name is that of any of them.
std::string copy_name(const std::string& array, std::size_t number);
bool is_copy(const std::string& name, const std::string& array);

}  // namespace apart
