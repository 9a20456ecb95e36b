#pragma once
// The files of a run, by name: which exist, and which may be replaced.
#include <apart/core/types.hpp>
#include <apart/scene/scene_file.hpp>

#include <filesystem>

namespace apart {

/// The directory a run writes when none is named: run-NAME or, if that exists, run-NAME-2, run-NAME-3, ...
std::filesystem::path fresh_run_directory(const SceneFile& file);

/// Creates a run directory, or makes one ready to be written again. One that is not empty is refused, unless
/// `force`: then what an earlier run wrote is removed, and nothing else. Throws InputError.
void prepare_run_directory(const std::filesystem::path& directory, bool force);

/// Whether the folder of a file is that of a run, or of its frames or iterates, and the run keeps a file of
/// that name there: other outputs must not take its place.
bool is_file_of_run(const std::filesystem::path& file);

/// Removes what a killed process left half written. No other process may be writing there.
void remove_half_written(const std::filesystem::path& directory);

/// Removes the iterates of steps after `last`, which will be done again, or not at all, and the cells of
/// topologies after `topology`.
void remove_later_iterates(const std::filesystem::path& directory, Index last, Index topology);

/// Throws InputError unless a run that is to be continued has its first frames, so many, on the disk.
void ensure_frames(const std::filesystem::path& directory, Index count);

}  // namespace apart
