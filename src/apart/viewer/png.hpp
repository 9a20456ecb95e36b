#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace apart {

/// 8 bits per channel, sRGB, rows from top to bottom.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  ///< 3 · width · height
};

/// Writes a PNG file atomically. Throws InputError with path and reason if that fails.
void write_png(const std::filesystem::path& file, const Image& image);

/// Reads an 8-bit RGB PNG file. Throws InputError if it is missing, damaged or of another kind.
Image read_png(const std::filesystem::path& file);

}  // namespace apart
