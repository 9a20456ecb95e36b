#pragma once
#include <filesystem>

namespace apart {

/// Throws InputError if `output` exists and `force` is not given, and in any case if it is one of the files
/// of a run: its scene, summary, checkpoint and so on. Call it before the work that makes the output.
void ensure_may_write(const std::filesystem::path& output, bool force);

/// The first of NAME.ENDING, NAME-2.ENDING, ... that does not exist.
std::filesystem::path fresh_file(const std::filesystem::path& output);

}  // namespace apart
