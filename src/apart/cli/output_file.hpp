#pragma once
#include <filesystem>

namespace apart {

/// Throws InputError if `output` is there and `force` is not given, and, with or without it, if a run keeps
/// that file for itself: its scene, summary, checkpoint and the like. Asked before the work that makes the
/// output.
void ensure_may_write(const std::filesystem::path& output, bool force);

/// The first of NAME.ENDING, NAME-2.ENDING, ... that is not there.
std::filesystem::path fresh_file(const std::filesystem::path& output);

}  // namespace apart
