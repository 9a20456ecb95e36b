#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace apart {

/// Writes bytes and behind them a mark (8 characters that say what the file is), a version and a checksum,
/// atomically.
void write_sealed(const std::filesystem::path& file, std::string_view mark, std::uint32_t version,
                  std::string_view bytes);

/// The bytes again. Throws InputError naming the file if it is missing, of another kind or version, cut off
/// or changed.
std::string read_sealed(const std::filesystem::path& file, std::string_view mark, std::uint32_t version);

}  // namespace apart
