#pragma once
#include <apart/scene/scene_file.hpp>
#include <apart/simulation/simulation.hpp>

#include <cstdint>
#include <filesystem>

namespace apart {

/// What the seal of a checkpoint says (see sealed_file.hpp).
inline constexpr std::string_view checkpoint_mark = "apartCHK";
inline constexpr std::uint32_t checkpoint_format = 8;

/// Fingerprint of what a run simulates: the scene except for solver settings and output, and the meshes it
/// reads. A run can only be resumed with the same fingerprint.
std::uint64_t fingerprint(const SceneFile& file, const Model& model);

/// Writes a state of a model, bit for bit, so that a run can continue from it, with the fingerprint of its
/// scene and the shapes of bodies whose mesh is not that of the scene. Atomic, unless all processes of a team
/// write it `together`, each its part.
void write_checkpoint(const std::filesystem::path& file, const State& state, const Model& model,
                      std::uint64_t scene, const Teamwork* together = nullptr);

/// Throws InputError that begins with `where` unless the state is one of the model.
void check_state(const std::string& where, const State& state, const Model& model);

struct ReadCheckpoint {
  State state;
  std::shared_ptr<const Model> model;  ///< that the state is of
  std::string trouble = {};            ///< why the newest could not be used; empty if it is the newest
};

/// `model`: of the scene. Throws InputError naming the file if it is missing or damaged, if it has another
/// fingerprint, or if its meshes or its state do not fit the model.
ReadCheckpoint read_checkpoint(const std::filesystem::path& file, const std::shared_ptr<const Model>& model,
                               std::uint64_t scene);

/// The last two checkpoints of a run directory.
struct CheckpointFiles {
  CheckpointFiles(const std::filesystem::path& directory, std::uint64_t fingerprint);
  std::filesystem::path newest, older;
  std::uint64_t scene;  ///< fingerprint

  /// The newest becomes the older one. At every moment at least one of the two is complete. `together`: the
  /// other processes of the team write fresh() at the same time.
  void keep(const State& state, const Model& model, const Teamwork* together = nullptr) const;
  std::filesystem::path fresh() const;  ///< the name of the next one while it is written
  /// The newest that is good. Throws InputError, saying what is wrong with both, if none is.
  ReadCheckpoint read(const std::shared_ptr<const Model>& model) const;
};

}  // namespace apart
