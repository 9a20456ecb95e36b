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

constexpr std::string_view checksum_name = "appended_bytes_and_crc32";

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

/// Fills a VtuFile from its XML part. Expat is C: no exception may pass through it, so the first error is
/// kept, the parser stopped, and the error thrown afterwards.
class VtuParser {
 public:
  explicit VtuParser(VtuFile& file) : file_(file), parser_(XML_ParserCreate(nullptr), &XML_ParserFree) {
    if (!parser_) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const char* name, const char** attributes) {
          static_cast<VtuParser*>(self)->guarded([&](VtuParser& p) { p.start(name, attributes); });
        },
        [](void* self, const char* name) {
          static_cast<VtuParser*>(self)->guarded([&](VtuParser& p) { p.end(name); });
        });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const char* text, int length) {
      static_cast<VtuParser*>(self)->guarded([&](VtuParser& p) {
        if (p.in_array_ && p.depth_ == p.array_depth_) p.array_.text.append(text, std::size_t(length));
      });
    });
  }

  void parse() {
    constexpr std::size_t chunk = 1 << 24;
    std::string_view rest = file_.reader_.content();
    bool more = true;
    while (more && !appended_) {
      const std::string_view piece = rest.substr(0, chunk);
      rest.remove_prefix(piece.size());
      more = !rest.empty();
      const auto status = XML_Parse(parser_.get(), piece.data(), int(piece.size()), !more);
      if (error_) std::rethrow_exception(error_);
      if (status != XML_STATUS_OK && !appended_)
        throw InputError("{}:{}: {}; the file was cut off or damaged, write it again",
                         file_.reader_.file().string(), line(),
                         XML_ErrorString(XML_GetErrorCode(parser_.get())));
    }
    if (file_.pieces_.empty()) fail("no <Piece> in the file; it holds no mesh");
    if (appended_) find_appended_data();
  }

 private:
  using Attributes = std::vector<std::pair<std::string_view, std::string_view>>;

  template <class F>
  void guarded(F call) {
    if (error_ || appended_) return;
    try {
      call(*this);
    } catch (...) {
      error_ = std::current_exception();
      XML_StopParser(parser_.get(), XML_FALSE);
    }
  }

  std::size_t line() const { return XML_GetCurrentLineNumber(parser_.get()); }
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError("{}:{}: {}", file_.reader_.file().string(), line(), message);
  }

  static std::optional<std::string_view> find(const Attributes& attributes, std::string_view name) {
    for (const auto& [key, value] : attributes)
      if (key == name) return value;
    return std::nullopt;
  }

  std::int64_t number(const Attributes& attributes, std::string_view name, std::int64_t missing) const {
    const auto text = find(attributes, name);
    if (!text) return missing;
    const auto value = parse_integer(*text);
    if (!value || *value < 0)
      fail(fmt::format("attribute {}: got {}, must be a non-negative integer", name, apart::quoted(*text)));
    return *value;
  }

  Index count(const Attributes& attributes, std::string_view name) const {
    const std::int64_t n = number(attributes, name, -1);
    if (n < 0) fail(fmt::format("<Piece> has no attribute {}; the file is damaged, write it again", name));
    if (n > std::numeric_limits<Index>::max())
      fail(fmt::format("attribute {}: got {}, at most {} are supported", name, n,
                       std::numeric_limits<Index>::max()));
    return Index(n);
  }

  void start(std::string_view name, const char** pairs) {
    ++depth_;
    Attributes attributes;
    for (; *pairs; pairs += 2) attributes.emplace_back(pairs[0], pairs[1]);
    if (name != "VTKFile" && !root_seen_) fail("not a VTU file: its outermost element must be <VTKFile>");
    if (name == "VTKFile") {
      start_file(attributes);
    } else if (name == "AppendedData") {
      file_.appended_is_base64_ = find(attributes, "encoding") == "base64";
      appended_at_ = std::size_t(XML_GetCurrentByteIndex(parser_.get()));
      appended_ = true;  // raw data is not XML: expat must not see it
      XML_StopParser(parser_.get(), XML_FALSE);
    } else if (name == "Piece") {
      section_ = nullptr;  // it may point into pieces_, which grows
      VtuPiece& piece = file_.pieces_.emplace_back();
      piece.point_count = count(attributes, "NumberOfPoints");
      piece.cell_count = count(attributes, "NumberOfCells");
    } else if (name == "FieldData") {
      section_ = &file_.field_data_;
    } else if (name == "Points" || name == "Cells" || name == "PointData" || name == "CellData") {
      if (file_.pieces_.empty()) fail(fmt::format("<{}> outside of <Piece>; the file is damaged", name));
      VtuPiece& piece = file_.pieces_.back();
      section_ = name == "Points"      ? &piece.points
                 : name == "Cells"     ? &piece.cells
                 : name == "PointData" ? &piece.point_data
                                       : &piece.cell_data;
    } else if ((name == "DataArray" || name == "Array") && section_) {
      in_array_ = true;
      array_depth_ = depth_;
      array_ = {};
      array_.name = find(attributes, "Name").value_or("");
      array_.type = find(attributes, "type").value_or("");
      array_.format = find(attributes, "format").value_or("ascii");
      array_.components = std::max<std::int64_t>(1, number(attributes, "NumberOfComponents", 1));
      array_.tuples = number(attributes, "NumberOfTuples", -1);
      array_.offset = std::size_t(number(attributes, "offset", 0));
      array_.line = line();
    }
  }

  void start_file(const Attributes& attributes) {
    root_seen_ = true;
    if (const auto type = find(attributes, "type"); type != "UnstructuredGrid")
      fail(fmt::format(
          "VTKFile has type {}, must be 'UnstructuredGrid'; save the mesh as an unstructured grid (.vtu)",
          apart::quoted(type.value_or(""))));
    const bool big = find(attributes, "byte_order") == "BigEndian";
    file_.swap_ = big != (std::endian::native == std::endian::big);
    file_.header_bytes_ = find(attributes, "header_type") == "UInt64" ? 8 : 4;
    const auto compressor = find(attributes, "compressor");
    file_.compressed_ = compressor.has_value();
    if (compressor && *compressor != "vtkZLibDataCompressor")
      fail(fmt::format(
          "compressor {} is not supported; save the file uncompressed or with vtkZLibDataCompressor",
          apart::quoted(*compressor)));
  }

  void end(std::string_view name) {
    const int depth = depth_--;
    if (in_array_ && depth == array_depth_) {
      if (section_) section_->push_back(std::move(array_));
      in_array_ = false;
    } else if (name == "FieldData" || name == "Points" || name == "Cells" || name == "PointData" ||
               name == "CellData") {
      section_ = nullptr;
    }
  }

  /// The data begin behind the first underscore in <AppendedData ...>.
  void find_appended_data() {
    const std::string_view content = file_.reader_.content();
    const std::size_t tag_end = content.find('>', appended_at_);
    const std::size_t underscore =
        tag_end == content.npos ? content.npos : content.find_first_not_of(" \t\r\n", tag_end + 1);
    if (underscore == content.npos || content[underscore] != '_')
      fail(
          "<AppendedData> does not begin with an underscore; the file was cut off or damaged, write it "
          "again");
    file_.appended_begin_ = underscore + 1;
  }

  VtuFile& file_;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  std::vector<VtuArray>* section_ = nullptr;
  VtuArray array_;
  bool in_array_ = false, root_seen_ = false, appended_ = false;
  int depth_ = 0, array_depth_ = 0;  ///< arrays may hold <InformationKey> elements, whose text is not theirs
  std::size_t appended_at_ = 0;
  std::exception_ptr error_;
};

VtuFile::VtuFile(const std::filesystem::path& file) : reader_(file) {
  VtuParser(*this).parse();
  check_appended_data();
}

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
  const VtuArray* stored = find(field_data_, checksum_name);
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
  // Many pieces may have their arrays in the same place of a small file.
  if (builder.coordinates.size() + coordinates.size() > largest_array / sizeof(double))
    fail(points, fmt::format("all pieces together have more than {} points, the most that is read",
                             largest_array / sizeof(Vector3)));
  if (first_point + coordinates.size() / 3 > std::size_t(std::numeric_limits<Index>::max()))
    fail(fmt::format("more than {} points, the largest supported number", std::numeric_limits<Index>::max()));
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
    if (std::max({builder.tetrahedra.size(), builder.faces.size(), builder.edges.size(),
                  builder.vertices.size()}) > largest_array / sizeof(int))
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
  MeshBuilder builder;
  for (const VtuPiece& piece : pieces_) add_piece(piece, with_cell_data, builder);
  return builder.build();
}

namespace {

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

template <class T>
VtuOutput output_of(std::string name, std::string_view type, std::span<const T> values,
                    std::int64_t components) {
  return {std::move(name), type, components, std::int64_t(values.size()) / components, bytes_of(values)};
}

}  // namespace

VtuOutput vtu_output(std::string name, std::span<const double> values, std::int64_t components) {
  return output_of(std::move(name), "Float64", values, components);
}

VtuOutput vtu_output(std::string name, std::span<const int> values, std::int64_t components) {
  return output_of(std::move(name), "Int32", values, components);
}

VtuOutput vtu_output_strings(std::string name, std::string_view zero_terminated, std::int64_t count) {
  return {std::move(name), "String", 1, count, zero_terminated};
}

void write_vtu(std::ostream& out, const Mesh& mesh, const VtuOutputs& arrays) {
  std::vector<int> connectivity;
  std::vector<std::int64_t> offsets;
  std::vector<std::uint8_t> types;
  const auto add_cells = [&](const auto& cells, int type) {
    for (Eigen::Index c = 0; c < cells.cols(); ++c) {
      for (Eigen::Index k = 0; k < cells.rows(); ++k) connectivity.push_back(cells(k, c));
      offsets.push_back(std::int64_t(connectivity.size()));
      types.push_back(std::uint8_t(type));
    }
  };
  add_cells(mesh.tetrahedra, vtk_tetrahedron);
  add_cells(mesh.faces, vtk_triangle);
  add_cells(mesh.edges, vtk_line);
  add_cells(mesh.vertices.transpose(), vtk_vertex);

  const std::span<const double> coordinates(mesh.points.data(), std::size_t(mesh.points.size()));
  const std::vector<VtuOutput> points = {vtu_output("Points", coordinates, 3)};
  const std::vector<VtuOutput> cells = {vtu_output("connectivity", connectivity),
                                        output_of<std::int64_t>("offsets", "Int64", offsets, 1),
                                        output_of<std::uint8_t>("types", "UInt8", types, 1)};
  const std::vector<VtuOutput>* const sections[] = {&arrays.field, &arrays.point, &arrays.cell, &points,
                                                    &cells};

  // Each array: its size as UInt64, then its bytes.
  std::uint64_t total = 0;
  uLong crc = 0;
  for (const auto* section : sections)
    for (const VtuOutput& array : *section) {
      const std::uint64_t size = array.bytes.size();
      crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(&size), sizeof size);
      // zlib takes a null pointer as a request for the start value
      if (size > 0) crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(array.bytes.data()), size);
      total += sizeof size + size;
    }

  std::uint64_t offset = 0;
  const auto write_section = [&](std::string_view name, const std::vector<VtuOutput>& section,
                                 const std::string& inside) {
    out << fmt::format("    <{}>\n{}", name, inside);
    for (const VtuOutput& array : section) {
      const bool strings = array.type == "String";
      out << fmt::format(
          "      <{} type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" NumberOfTuples=\"{}\" "
          "format=\"appended\" "
          "offset=\"{}\"/>\n",
          strings ? "Array" : "DataArray", array.type, array.name, array.components, array.tuples, offset);
      offset += sizeof(std::uint64_t) + array.bytes.size();
    }
    out << fmt::format("    </{}>\n", name);
  };
  out << "<?xml version=\"1.0\"?>\n"
      << fmt::format(
             "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"{}\" header_type=\"UInt64\">\n",
             std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian")
      << "  <UnstructuredGrid>\n";
  write_section(
      "FieldData", arrays.field,
      fmt::format("      <DataArray type=\"Int64\" Name=\"{}\" NumberOfTuples=\"2\" format=\"ascii\">{} {}"
                  "</DataArray>\n",
                  checksum_name, total, crc));
  out << fmt::format("    <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", mesh.points.cols(),
                     types.size());
  write_section("PointData", arrays.point, "");
  write_section("CellData", arrays.cell, "");
  write_section("Points", points, "");
  write_section("Cells", cells, "");
  out << "    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_";
  for (const auto* section : sections)
    for (const VtuOutput& array : *section) {
      const std::uint64_t size = array.bytes.size();
      out.write(reinterpret_cast<const char*>(&size), sizeof size);
      out.write(array.bytes.data(), std::streamsize(size));
    }
  out << "\n  </AppendedData>\n</VTKFile>\n";
}

Mesh read_vtu(const std::filesystem::path& file) {
  return VtuFile(file).mesh(true);
}

void write_vtu_file(const std::filesystem::path& file, const Mesh& mesh) {
  write_atomically(file, [&](std::ostream& out) { write_vtu(out, mesh, {}); });
}

}  // namespace apart
