#pragma once
// VTK's XML format for unstructured grids: what mesh files and frames have in common.
#include <apart/io/file_reader.hpp>
#include <apart/io/mesh_builder.hpp>

#include <iosfwd>
#include <span>
#include <vector>

namespace apart {

/// Of the field that holds size and CRC-32 of the appended data, in files that write_vtu made.
inline constexpr std::string_view vtu_checksum_name = "appended_bytes_and_crc32";

/// One array of a file, still encoded.
struct VtuArray {
  std::string name;
  std::string type;  ///< "Float64", "Int32", ..., "String"
  std::int64_t components = 1;
  std::int64_t tuples = -1;  ///< -1 if the file does not say (it does so in FieldData only)
  std::string format;        ///< "ascii", "binary" (base64) or "appended"
  std::string text;          ///< ascii, base64
  std::size_t offset = 0;    ///< appended: bytes from the start of the appended data
  std::size_t line = 0;
};

struct VtuPiece {
  Index point_count = 0, cell_count = 0;
  std::vector<VtuArray> points, cells, point_data, cell_data;
};

/// An opened file: ASCII, base64 or appended data (raw or base64), plain or compressed by zlib.
class VtuFile {
 public:
  explicit VtuFile(const std::filesystem::path& file);

  const std::vector<VtuArray>& field_data() const { return field_data_; }
  const std::vector<VtuPiece>& pieces() const { return pieces_; }
  /// Points and cells of all pieces, indices checked, coordinates finite; on request with the numbers that
  /// <CellData> gives each tetrahedron.
  Mesh mesh(bool with_cell_data = false) const;

  /// The array called `name`; null if there is none.
  static const VtuArray* find(const std::vector<VtuArray>& arrays, std::string_view name);
  /// The decoded values; exactly `count` of them or an InputError.
  std::vector<double> reals(const VtuArray& array, std::size_t count) const;
  std::vector<std::int64_t> integers(const VtuArray& array, std::size_t count) const;
  std::vector<std::string> strings(const VtuArray& array) const;

  [[noreturn]] void fail(const VtuArray& array, const std::string& message) const;
  [[noreturn]] void fail(const std::string& message) const;

 private:
  friend class VtuParser;
  template <class T>
  std::vector<T> values(const VtuArray& array, std::size_t count) const;
  std::string decode(const VtuArray& array, std::optional<std::size_t> size) const;
  void check_appended_data() const;
  void add_piece(const VtuPiece& piece, bool with_cell_data, MeshBuilder& builder) const;

  FileReader reader_;
  std::vector<VtuArray> field_data_;
  std::vector<VtuPiece> pieces_;
  bool swap_ = false;        ///< the file's byte order is not ours
  bool compressed_ = false;  ///< by zlib
  bool appended_is_base64_ = false;
  std::size_t header_bytes_ = 4;    ///< size of the integers in front of binary data
  std::size_t appended_begin_ = 0;  ///< 0: no appended data
};

/// An array to be written; the bytes belong to the caller.
struct VtuOutput {
  std::string name;
  std::string_view type;
  std::int64_t components;
  std::int64_t tuples;
  std::string_view bytes;
};
VtuOutput vtu_output(std::string name, std::span<const double> values, std::int64_t components = 1);
VtuOutput vtu_output(std::string name, std::span<const int> values, std::int64_t components = 1);
/// `zero_terminated` holds `count` strings, each ended by a zero byte.
VtuOutput vtu_output_strings(std::string name, std::string_view zero_terminated, std::int64_t count);

struct VtuOutputs {
  std::vector<VtuOutput> field, point, cell;
};
/// Raw appended data, so that doubles survive exactly, with a checksum. Cells: tetrahedra, faces, edges,
/// vertices, curved tetrahedra.
void write_vtu(std::ostream& out, const Mesh& mesh, const VtuOutputs& arrays);

}  // namespace apart
