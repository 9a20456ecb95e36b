#include <apart/core/error.hpp>
#include <apart/io/vtu.hpp>

#include <expat.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace apart {

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

}  // namespace apart
