#pragma once
#include <apart/core/types.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace apart {

/// Named numbers, lists of numbers and lists of points.
struct Archive {
  std::map<std::string, std::int64_t> integers;
  std::map<std::string, double> reals;
  std::map<std::string, VectorX> vectors;
  std::map<std::string, Matrix3X> matrices;
};

/// Writes an HDF5 file (numbers are scalar datasets, vectors and matrices datasets of one and of three
/// columns; all names differ), sealed (see sealed_file.hpp), atomically.
void write_archive(const std::filesystem::path& file, std::string_view mark, std::uint32_t version,
                   const Archive& archive);

/// The same bits again. The seal is checked first, and no byte of the file reaches HDF5. Throws InputError
/// naming the file if it is missing, damaged, or of another kind or version.
Archive read_archive(const std::filesystem::path& file, std::string_view mark, std::uint32_t version);

}  // namespace apart
