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

/// What stands behind the HDF5 image in the file of an archive: where the numbers of each dataset are, so
/// that reading needs nothing else.
class ArchiveTable {
 public:
  enum class Kind : std::uint64_t { integer, real, vector, matrix };
  /// `columns`: of a vector, its length; of numbers 1. `begin`: the first byte in the image.
  void add(std::string_view name, Kind kind, std::uint64_t columns, std::uint64_t begin);
  std::string bytes() const;

 private:
  std::string entries_;
  std::uint64_t count_ = 0;
};

/// Writes an HDF5 file (numbers are scalar datasets, vectors and matrices datasets of one and of three
/// columns; all names differ), sealed (see sealed_file.hpp), atomically.
void write_archive(const std::filesystem::path& file, std::string_view mark, std::uint32_t version,
                   const Archive& archive);

/// The same bits again. The seal is checked first, and no byte of the file reaches HDF5. Throws InputError
/// naming the file if it is missing, damaged, or of another kind or version.
Archive read_archive(const std::filesystem::path& file, std::string_view mark, std::uint32_t version);

}  // namespace apart
