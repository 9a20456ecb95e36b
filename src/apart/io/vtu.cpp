#include <apart/io/atomic_file.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/vtu.hpp>

#include <expat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <ostream>

namespace apart {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Value of a base64 digit, -1 for any other character.
int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/// Bytes one after another from raw or base64 text. Header and data may be encoded together or each on its
/// own, with padding between: decoding four digits at a time covers both.
class ByteStream {
 public:
  ByteStream(std::string_view source, bool base64) : source_(source), base64_(base64) {}

  std::size_t at_most_left() const {
    return pending_.size() + (base64_ ? source_.size() / 4 * 3 : source_.size());
  }

  /// Empty if there are not so many bytes, or the text is no base64.
  std::optional<std::string> take(std::size_t size) {
    if (size > at_most_left()) return std::nullopt;
    if (!base64_) {
      std::string result(source_.substr(0, size));
      source_.remove_prefix(size);
      return result;
    }
    std::string result = std::move(pending_);
    result.reserve(size + 3);
    while (result.size() < size)
      if (!decode_four(result)) return std::nullopt;
    pending_ = result.substr(size);
    result.resize(size);
    return result;
  }

 private:
  bool decode_four(std::string& result) {
    std::uint32_t bits = 0;
    int digits = 0, padding = 0;
    while (digits + padding < 4) {
      if (source_.empty()) return false;
      const char c = source_.front();
      source_.remove_prefix(1);
      if (is_space(c)) continue;
      const int digit = base64_digit(c);
      if (digit < 0 && c != '=') return false;
      if (digit >= 0 && padding > 0) return false;
      digit >= 0 ? ++digits : ++padding;
      bits = bits << 6 | std::uint32_t(std::max(digit, 0));
    }
    if (padding > 2) return false;
    for (int i = 0; i < 3 - padding; ++i) result += char(bits >> (16 - 8 * i) & 0xff);
    return true;
  }

  std::string_view source_;
  bool base64_;
  std::string pending_;
};

// [bytes] of one array, unpacked: few bytes of a file can claim a thousand times as many, or name the same
// bytes often.
constexpr std::size_t largest_array = std::size_t(1) << 30;

template <class T>
T from_bytes(const char* bytes, bool swap) {
  std::array<char, sizeof(T)> copy;
  std::memcpy(copy.data(), bytes, sizeof(T));
  if (swap) std::reverse(copy.begin(), copy.end());
  return std::bit_cast<T>(copy);
}

/// Calls visit(T{}) with the C++ type of VTK's name; false if the name is unknown.
template <class Visitor>
bool visit_type(std::string_view name, Visitor visit) {
  if (name == "Float64") return visit(double{}), true;
  if (name == "Float32") return visit(float{}), true;
  if (name == "Int64") return visit(std::int64_t{}), true;
  if (name == "Int32") return visit(std::int32_t{}), true;
  if (name == "Int16") return visit(std::int16_t{}), true;
  if (name == "Int8") return visit(std::int8_t{}), true;
  if (name == "UInt64") return visit(std::uint64_t{}), true;
  if (name == "UInt32") return visit(std::uint32_t{}), true;
  if (name == "UInt16") return visit(std::uint16_t{}), true;
  if (name == "UInt8") return visit(std::uint8_t{}), true;
  return false;
}

}  // namespace

void VtuFile::fail(const VtuArray& array, const std::string& message) const {
  throw InputError("{}:{}: array {}: {}", reader_.file().string(), array.line, apart::quoted(array.name),
                   message);
}

void VtuFile::fail(const std::string& message) const {
  throw InputError("{}: {}", reader_.file().string(), message);
}

const VtuArray* VtuFile::find(const std::vector<VtuArray>& arrays, std::string_view name) {
  const auto found =
      std::find_if(arrays.begin(), arrays.end(), [&](const VtuArray& a) { return a.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

/// Files that write_vtu made carry a checksum; others are taken as they are.
void VtuFile::check_appended_data() const {
  const VtuArray* stored = find(field_data_, vtu_checksum_name);
  if (!stored) return;
  const std::vector<std::int64_t> expected = integers(*stored, 2);
  const std::string_view data = reader_.content().substr(appended_begin_);
  if (expected[0] < 0 || std::size_t(expected[0]) > data.size())
    throw InputError("{}: byte {}: {} bytes of data should follow but {} are left; the file was cut off",
                     reader_.file().string(), appended_begin_, expected[0], data.size());
  const auto crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), std::size_t(expected[0]));
  if (std::int64_t(crc) != expected[1])
    throw InputError("{}: byte {}: the data are damaged (checksum {}, must be {}); write the file again",
                     reader_.file().string(), appended_begin_, crc, expected[1]);
}

/// Bytes of a binary array; if `size` is given there must be exactly so many.
std::string VtuFile::decode(const VtuArray& array, std::optional<std::size_t> size) const {
  const bool appended = array.format == "appended";
  if (!appended && array.format != "binary")
    fail(array,
         fmt::format("format {}, must be 'ascii', 'binary' or 'appended'", apart::quoted(array.format)));
  if (appended && appended_begin_ == 0)
    fail(array, "its data are appended, but the file has no <AppendedData>");
  std::string_view source =
      appended ? reader_.content().substr(appended_begin_) : std::string_view(array.text);
  if (appended && array.offset > source.size())
    fail(array, fmt::format("offset {} lies behind the end of the file; the file was cut off or damaged",
                            array.offset));
  if (appended) source.remove_prefix(array.offset);
  ByteStream stream(source, !appended || appended_is_base64_);

  const auto take = [&](std::size_t n) {
    auto bytes = stream.take(n);
    if (!bytes)
      fail(array,
           fmt::format(
               "{} bytes should follow but at most {} are left or readable; the file was cut off or damaged",
               n, stream.at_most_left()));
    return std::move(*bytes);
  };
  const auto header = [&] {
    const std::string bytes = take(header_bytes_);
    return header_bytes_ == 8 ? from_bytes<std::uint64_t>(bytes.data(), swap_)
                              : std::uint64_t(from_bytes<std::uint32_t>(bytes.data(), swap_));
  };
  const auto check_size = [&](std::uint64_t actual) {
    if (size && actual != *size)
      fail(array, fmt::format("has {} bytes of data, must have {}", actual, *size));
  };

  if (!compressed_) {
    const std::uint64_t total = header();
    check_size(total);
    return take(total);
  }
  // Header of compressed data: number of blocks, size of a block, size of the last if it is shorter (else 0),
  // then the compressed size of each.
  const std::uint64_t blocks = header(), block_size = header(), last_size = header();
  if (blocks > stream.at_most_left() / header_bytes_)
    fail(array,
         fmt::format("claims {} compressed blocks, more than the file can hold; it is damaged", blocks));
  std::vector<std::uint64_t> compressed_sizes(blocks);
  for (auto& s : compressed_sizes) s = header();
  std::string result;
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint64_t raw_size = b + 1 == blocks && last_size > 0 ? last_size : block_size;
    // zlib shrinks nothing by more than a factor of 1032: a larger claim is wrong, and must not be allocated.
    if (raw_size / 1032 > compressed_sizes[b] + 1 || (size && raw_size > *size - result.size()))
      fail(array, fmt::format("compressed block {} claims {} bytes, which cannot be; the file is damaged", b,
                              raw_size));
    if (raw_size > largest_array - result.size())
      fail(array, fmt::format("unpacks to more than {} bytes, the most that is read; use a coarser mesh",
                              largest_array));
    const std::string compressed = take(compressed_sizes[b]);
    const std::size_t begin = result.size();
    result.resize(begin + raw_size);
    uLongf length = raw_size;
    const int status =
        ::uncompress(reinterpret_cast<Bytef*>(result.data() + begin), &length,
                     reinterpret_cast<const Bytef*>(compressed.data()), uLong(compressed.size()));
    if (status != Z_OK || length != raw_size)
      fail(array, fmt::format("compressed block {} cannot be unpacked; the file is damaged", b));
  }
  check_size(result.size());
  return result;
}

template <class T>
std::vector<T> VtuFile::values(const VtuArray& array, std::size_t count) const {
  if (count > largest_array / sizeof(T))
    fail(array, fmt::format("must have {} values, at most {} are read; use a coarser mesh", count,
                            largest_array / sizeof(T)));
  std::vector<T> result;
  const bool known = visit_type(array.type, [&](auto type) {
    using Stored = decltype(type);
    if (std::is_integral_v<T> && !std::is_integral_v<Stored>)
      fail(array, fmt::format("has type {}, must have an integer type", apart::quoted(array.type)));
    if (array.format == "ascii") {
      std::string_view rest = array.text;
      while (true) {
        while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
        if (rest.empty()) break;
        const std::size_t length =
            std::size_t(std::find_if(rest.begin(), rest.end(), is_space) - rest.begin());
        const std::string_view word = rest.substr(0, length);
        rest.remove_prefix(length);
        if (result.size() == count) fail(array, fmt::format("has more values than the expected {}", count));
        const auto parsed = [&] {
          if constexpr (std::is_integral_v<T>)
            return parse_integer(word);
          else
            return parse_real(word);
        }();
        if (!parsed)
          fail(array, fmt::format("value {}: got {}, expected a number", result.size(), apart::quoted(word)));
        result.push_back(*parsed);
      }
      if (result.size() != count)
        fail(array, fmt::format("has {} values, must have {}", result.size(), count));
    } else {
      const std::string bytes = decode(array, count * sizeof(Stored));
      result.resize(count);
      for (std::size_t i = 0; i < count; ++i)
        result[i] = T(from_bytes<Stored>(bytes.data() + i * sizeof(Stored), swap_));
    }
  });
  if (!known)
    fail(array,
         fmt::format("has type {}, must be Float32, Float64 or an integer type", apart::quoted(array.type)));
  return result;
}

std::vector<double> VtuFile::reals(const VtuArray& array, std::size_t count) const {
  return values<double>(array, count);
}

std::vector<std::int64_t> VtuFile::integers(const VtuArray& array, std::size_t count) const {
  return values<std::int64_t>(array, count);
}

std::vector<std::string> VtuFile::strings(const VtuArray& array) const {
  if (array.type != "String" || array.format == "ascii") fail(array, "must be a binary array of strings");
  const std::string bytes = decode(array, std::nullopt);
  std::vector<std::string> result;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = bytes.find('\0', begin);
    if (end == bytes.npos) fail(array, "the last string has no end; the file is damaged");
    result.push_back(bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

void VtuFile::add_piece(const VtuPiece& piece, bool with_cell_data, MeshBuilder& builder) const {
  if (piece.points.empty()) fail("<Points> is missing; the file holds no mesh");
  const VtuArray& points = piece.points.front();
  if (points.components != 3) fail(points, fmt::format("has {} components, must have 3", points.components));
  const std::vector<double> coordinates = reals(points, 3 * std::size_t(piece.point_count));
  for (std::size_t i = 0; i < coordinates.size(); ++i)
    if (!std::isfinite(coordinates[i]))
      fail(points,
           fmt::format("coordinate {} of point {}: got {}, must be finite", i % 3, i / 3, coordinates[i]));
  const std::size_t first_point = builder.point_count();
  builder.coordinates.insert(builder.coordinates.end(), coordinates.begin(), coordinates.end());

  const auto required = [&](std::string_view name) -> const VtuArray& {
    const VtuArray* array = find(piece.cells, name);
    if (!array) fail(fmt::format("<Cells> has no array '{}'; the file is damaged, write it again", name));
    return *array;
  };
  const VtuArray& connectivity_array = required("connectivity");
  const VtuArray& offsets_array = required("offsets");
  const VtuArray& types_array = required("types");
  const std::vector<std::int64_t> offsets = integers(offsets_array, std::size_t(piece.cell_count));
  const std::vector<std::int64_t> types = integers(types_array, std::size_t(piece.cell_count));
  for (std::size_t c = 0; c < offsets.size(); ++c)
    if (offsets[c] < (c == 0 ? 0 : offsets[c - 1]) || offsets[c] > std::numeric_limits<Index>::max())
      fail(offsets_array, fmt::format("value {}: got {}, offsets must not decrease", c, offsets[c]));
  const std::vector<std::int64_t> connectivity =
      integers(connectivity_array, offsets.empty() ? 0 : std::size_t(offsets.back()));
  std::vector<int> cell;
  CellNumbers numbers(builder);
  for (std::size_t c = 0; c < offsets.size(); ++c) {
    cell.clear();
    for (std::int64_t i = c == 0 ? 0 : offsets[c - 1]; i < offsets[c]; ++i) {
      const std::int64_t p = connectivity[std::size_t(i)];
      if (p < 0 || p >= piece.point_count)
        fail(connectivity_array,
             fmt::format("cell {}: point index {} must lie in [0, {})", c, p, piece.point_count));
      cell.push_back(int(first_point) + int(p));
    }
    const int type = int(std::clamp<std::int64_t>(types[c], -1, 1000));
    if (const std::string problem = add_vtk_cell(builder, type, cell); !problem.empty())
      fail(types_array, fmt::format("cell {}: {}", c, problem));
    std::size_t curved = 0;
    for (const auto& [degree, points_of] : builder.curved) curved += points_of.size();
    if (std::max({builder.tetrahedra.size(), builder.faces.size(), builder.edges.size(),
                  builder.vertices.size(), curved}) > largest_array / sizeof(int))
      fail(types_array, "more cells than are read in all pieces together; use a coarser mesh");
    numbers.added(builder);
  }
  if (!with_cell_data) return;
  for (const VtuArray& array : piece.cell_data)
    if (array.components == 1 && !array.name.empty() && visit_type(array.type, [](auto) {})) {
      if (!builder.has_room_for_cell_data())
        fail(array, fmt::format("more cell data than are read, {} numbers; remove some",
                                MeshBuilder::most_cell_data));
      numbers.keep(builder, array.name, reals(array, std::size_t(piece.cell_count)));
    }
}

Mesh VtuFile::mesh(bool with_cell_data) const {
  // Before anything is unpacked: many pieces may have their arrays in the same place of a small file.
  const std::size_t most = largest_array / sizeof(Vector3);
  std::size_t points = 0;
  for (const VtuPiece& piece : pieces_) {
    if (std::size_t(piece.point_count) > most - points)
      fail(fmt::format(
          "all pieces together have more than {} points, the most that is read; use a coarser mesh", most));
    points += std::size_t(piece.point_count);
  }
  MeshBuilder builder;
  for (const VtuPiece& piece : pieces_) add_piece(piece, with_cell_data, builder);
  return builder.build();
}

Mesh read_vtu(const std::filesystem::path& file) {
  return VtuFile(file).mesh(true);
}

}  // namespace apart
