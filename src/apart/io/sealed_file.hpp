#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace apart {

/// How many bytes there are, and their CRC-32.
struct ByteSum {
  std::uint64_t count = 0;
  std::uint32_t crc = 0;
};
ByteSum byte_sum(std::string_view bytes);
/// Of bytes and others behind them.
ByteSum joined(const ByteSum& first, const ByteSum& then);
/// What write_sealed writes behind bytes with that sum.
std::string seal(const ByteSum& bytes, std::string_view mark, std::uint32_t version);

/// Writes bytes and behind them a mark (8 characters that say what the file is), a version and a checksum,
/// atomically.
void write_sealed(const std::filesystem::path& file, std::string_view mark, std::uint32_t version,
                  std::string_view bytes);

/// The bytes again. Throws InputError naming the file if it is missing, of another kind or version, cut off
/// or changed.
std::string read_sealed(const std::filesystem::path& file, std::string_view mark, std::uint32_t version);

}  // namespace apart
