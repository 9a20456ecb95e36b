#pragma once
#include <apart/simulation/simulation.hpp>

#include <filesystem>

namespace apart {

/// What the seal of a checkpoint says (see sealed_file.hpp).
inline constexpr std::string_view checkpoint_mark = "apartCHK";
inline constexpr std::uint32_t checkpoint_format = 4;

/// Keeps a state, bit for bit, so that a run can go on from it. Atomic.
void write_checkpoint(const std::filesystem::path& file, const State& state);

/// Throws InputError naming the file if it is missing or damaged, or if its state does not fit the model.
State read_checkpoint(const std::filesystem::path& file, const Model& model);

struct ReadCheckpoint {
  State state;
  std::string trouble;  ///< why the newest could not be used; empty if it is the newest
};

/// The last two checkpoints of a run directory.
struct CheckpointFiles {
  explicit CheckpointFiles(std::filesystem::path directory);
  std::filesystem::path newest, older;

  /// The newest becomes the older one. At every moment at least one of the two is complete.
  void keep(const State& state) const;
  /// The newest that is good. Throws InputError, saying what is wrong with the newest, if none is.
  ReadCheckpoint read(const Model& model) const;
};

}  // namespace apart
