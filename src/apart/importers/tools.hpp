#pragma once
// What importers share. For the importers only.
#include <apart/core/types.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace apart {

/// A file as a scene in `directory` names it: relative where the two share more than the root, absolute
/// otherwise or if `directory` is empty. `directory` is absolute and normal.
std::string written_path(const std::filesystem::path& file, const std::filesystem::path& directory);

/// The first of `paths` that exists in the folder of `from` or, folder by folder, above it.
std::optional<std::filesystem::path> find_upward(const std::filesystem::path& from,
                                                 std::span<const std::filesystem::path> paths);

/// The number to 15 digits, which removes rounding errors of decimal fractions.
double tidy(double value);
Vector3 tidy(const Vector3& values);

}  // namespace apart
