#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/mesh_builder.hpp>
#include <apart/io/text_writer.hpp>

#include <algorithm>
#include <limits>
#include <ostream>

namespace apart {

namespace {

/// PLY's number types by size and kind; each has an old and a new name.
enum class Type { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

std::optional<Type> type_of(std::string_view name) {
  if (name == "char" || name == "int8") return Type::int8;
  if (name == "uchar" || name == "uint8") return Type::uint8;
  if (name == "short" || name == "int16") return Type::int16;
  if (name == "ushort" || name == "uint16") return Type::uint16;
  if (name == "int" || name == "int32") return Type::int32;
  if (name == "uint" || name == "uint32") return Type::uint32;
  if (name == "float" || name == "float32") return Type::float32;
  if (name == "double" || name == "float64") return Type::float64;
  return std::nullopt;
}

bool is_integer(Type type) {
  return type < Type::float32;
}

std::size_t size_of(Type type) {
  constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};
  return sizes[std::size_t(type)];
}

struct Property {
  std::string name;
  Type type;
  std::optional<Type> list_size;  ///< type of the length, if the property is a list
};

struct Element {
  std::string name;
  std::int64_t count;
  std::vector<Property> properties;
  std::size_t mark;  ///< place in the header, for messages
};

class PlyReader {
 public:
  explicit PlyReader(const std::filesystem::path& file) : reader_(file) {}

  Mesh read() {
    read_header();
    for (const Element& element : elements_) {
      check_count(element);
      if (element.properties.empty()) continue;
      if (element.name == "vertex")
        read_vertices(element);
      else if (element.name == "face")
        read_faces(element);
      else if (element.name == "edge")
        read_edges(element);
      else if (element.name == "tristrips" && element.count > 0)
        reader_.fail_at(element.mark, "triangle strips are not supported; export the mesh with faces");
      else
        read_rows(element, [](const std::vector<double>&) {});
    }
    if (builder_.point_count() == 0) reader_.fail("no vertices in the file; it holds no mesh");
    if (largest_index_ >= double(builder_.point_count()))
      reader_.fail_at(largest_index_mark_,
                      fmt::format("vertex {} does not exist, the file has {} (counted from 0)",
                                  largest_index_, builder_.point_count()));
    if (builder_.has_no_cells()) builder_.add_all_vertices();
    return builder_.build();
  }

 private:
  void read_header() {
    if (reader_.line() != "ply") reader_.fail("not a PLY file: its first line must be 'ply'");
    bool format_seen = false;
    while (true) {
      if (reader_.at_end()) reader_.fail("the file ends inside the header; it was cut off, write it again");
      const std::string_view keyword = reader_.token_on_line();
      if (keyword == "end_header") break;
      if (keyword == "format") {
        read_format(reader_.token_on_line());
        format_seen = true;
      } else if (keyword == "element") {
        read_element();
      } else if (keyword == "property") {
        read_property();
      } else if (!keyword.empty() && keyword != "comment" && keyword != "obj_info") {
        reader_.fail("unknown keyword {} in the header", apart::quoted(keyword));
      }
      reader_.line();
    }
    if (!format_seen) reader_.fail("the header names no format; the file is damaged");
    reader_.line();  // the data begin right after the end of this line
    reader_.set_binary(binary_);
  }

  void read_format(std::string_view format) {
    if (format == "binary_little_endian")
      reader_.set_byte_order(std::endian::little);
    else if (format == "binary_big_endian")
      reader_.set_byte_order(std::endian::big);
    else if (format != "ascii")
      reader_.fail("format {}: must be ascii, binary_little_endian or binary_big_endian",
                   apart::quoted(format));
    binary_ = format != "ascii";
  }

  void read_element() {
    const std::string name(reader_.token_on_line());
    const std::string_view text = reader_.token_on_line();
    const auto count = parse_integer(text);
    if (!count || *count < 0)
      reader_.fail("count of element {}: got {}, must be a non-negative integer", apart::quoted(name),
                   apart::quoted(text));
    elements_.push_back({name, *count, {}, reader_.mark()});
  }

  void read_property() {
    if (elements_.empty()) reader_.fail("a property comes before the first element; the file is damaged");
    const auto type = [&](std::string_view name) {
      const auto found = type_of(name);
      if (!found)
        reader_.fail(
            "type of a property: got {}, must be char, uchar, short, ushort, int, uint, float or double",
            apart::quoted(name));
      return *found;
    };
    Property property{};
    std::string_view word = reader_.token_on_line();
    if (word == "list") {
      property.list_size = type(reader_.token_on_line());
      if (!is_integer(*property.list_size))
        reader_.fail("length of a list: got type {}, must be an integer type", apart::quoted(word));
      word = reader_.token_on_line();
    }
    property.type = type(word);
    property.name = reader_.token_on_line();
    elements_.back().properties.push_back(std::move(property));
  }

  void check_count(const Element& element) const {
    std::size_t least = 0;
    for (const Property& p : element.properties) least += binary_ ? size_of(p.list_size.value_or(p.type)) : 2;
    // The last number of a text needs no separator behind it.
    const std::size_t available = reader_.remaining() + (binary_ ? 0 : 1);
    if (element.count > std::numeric_limits<Index>::max() ||
        (least > 0 && std::size_t(element.count) > available / least))
      reader_.fail_at(
          element.mark,
          fmt::format("element {} claims {} rows, more than the file ({} bytes left) can hold; it "
                      "was cut off or damaged",
                      apart::quoted(element.name), element.count, reader_.remaining()));
  }

  double number(Type type, const std::string& what) {
    if (!binary_) return is_integer(type) ? double(reader_.integer(what)) : reader_.real(what);
    switch (type) {
      case Type::int8:
        return reader_.value<std::int8_t>(what);
      case Type::uint8:
        return reader_.value<std::uint8_t>(what);
      case Type::int16:
        return reader_.value<std::int16_t>(what);
      case Type::uint16:
        return reader_.value<std::uint16_t>(what);
      case Type::int32:
        return reader_.value<std::int32_t>(what);
      case Type::uint32:
        return reader_.value<std::uint32_t>(what);
      case Type::float32:
        return double(reader_.value<float>(what));
      case Type::float64:
        break;
    }
    return reader_.value<double>(what);
  }

  /// Reads all rows. `row` gets the scalar properties in order (lists count as 0); `list` says which
  /// property's list to keep in list_.
  template <class F>
  void read_rows(const Element& element, F row, std::size_t list = std::size_t(-1)) {
    std::vector<double> scalars(element.properties.size());
    for (std::int64_t i = 0; i < element.count; ++i) {
      for (std::size_t p = 0; p < element.properties.size(); ++p) {
        const Property& property = element.properties[p];
        if (!property.list_size) {
          scalars[p] = number(property.type, property.name);
          continue;
        }
        const double length = number(*property.list_size, property.name);
        const std::size_t each = binary_ ? size_of(property.type) : 1;
        if (length < 0 || length > double(reader_.remaining() / each))
          reader_.fail("length of list {}: got {}, must not be negative or longer than the file",
                       apart::quoted(property.name), length);
        if (p == list) list_.clear();
        for (std::size_t k = 0; k < std::size_t(length); ++k) {
          const double value = number(property.type, property.name);
          if (p == list) list_.push_back(index(value));
        }
      }
      row(scalars);
    }
  }

  std::size_t property(const Element& element, std::initializer_list<std::string_view> names,
                       bool list) const {
    for (std::size_t p = 0; p < element.properties.size(); ++p)
      if (element.properties[p].list_size.has_value() == list &&
          std::find(names.begin(), names.end(), element.properties[p].name) != names.end())
        return p;
    reader_.fail_at(element.mark,
                    fmt::format("element {} has no {} '{}'; export the mesh again",
                                apart::quoted(element.name), list ? "list" : "property", *names.begin()));
  }

  int index(double value) {
    if (value < 0 || value != std::floor(value))
      reader_.fail("vertex index: got {}, must be an integer from 0", value);
    if (value > largest_index_) {  // vertices may follow later: checked at the end
      largest_index_ = value;
      largest_index_mark_ = reader_.mark();
    }
    return int(std::min(value, double(std::numeric_limits<int>::max())));
  }

  void read_vertices(const Element& element) {
    const std::size_t x = property(element, {"x"}, false), y = property(element, {"y"}, false),
                      z = property(element, {"z"}, false);
    read_rows(element, [&](const std::vector<double>& row) {
      builder_.add_point(reader_.finite(row[x], "x"), reader_.finite(row[y], "y"),
                         reader_.finite(row[z], "z"));
    });
  }

  void read_faces(const Element& element) {
    const std::size_t corners = property(element, {"vertex_indices", "vertex_index"}, true);
    read_rows(
        element,
        [&](const std::vector<double>&) {
          if (list_.size() < 3) reader_.fail("a face needs at least 3 vertices, got {}", list_.size());
          builder_.add_polygon(list_);
        },
        corners);
  }

  void read_edges(const Element& element) {
    const std::size_t a = property(element, {"vertex1"}, false), b = property(element, {"vertex2"}, false);
    read_rows(element, [&](const std::vector<double>& row) {
      builder_.edges.insert(builder_.edges.end(), {index(row[a]), index(row[b])});
    });
  }

  FileReader reader_;
  MeshBuilder builder_;
  std::vector<Element> elements_;
  std::vector<int> list_;
  bool binary_ = false;
  double largest_index_ = -1;
  std::size_t largest_index_mark_ = 0;
};

}  // namespace

Mesh read_ply(const std::filesystem::path& file) {
  return PlyReader(file).read();
}

void write_ply(const std::filesystem::path& file, const Mesh& mesh) {
  static_assert(std::endian::native == std::endian::little, "write_ply writes the machine's own byte order");
  require_no_cells(file, "PLY", mesh.cell_count(), "tetrahedra", "write .vtu, .vtk or .msh");
  if (mesh.faces.cols() + mesh.edges.cols() > 0 || mesh.vertices.size() < mesh.points.cols())
    require_no_cells(file, "PLY", mesh.vertices.size(), "free points beside other points",
                     "write .obj, .vtu, .vtk or .msh");
  write_atomically(file, [&](std::ostream& out) {
    const auto put = [&](const void* data, Eigen::Index bytes) {
      out.write(static_cast<const char*>(data), std::streamsize(bytes));
    };
    out << fmt::format(
        "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty double x\nproperty double y\n"
        "property double z\nelement face {}\nproperty list uchar int vertex_indices\n",
        mesh.points.cols(), mesh.faces.cols());
    if (mesh.edges.cols() > 0)
      out << fmt::format("element edge {}\nproperty int vertex1\nproperty int vertex2\n", mesh.edges.cols());
    out << "end_header\n";
    put(mesh.points.data(), mesh.points.size() * Eigen::Index(sizeof(double)));
    for (Eigen::Index f = 0; f < mesh.faces.cols(); ++f) {
      out.put(3);
      put(mesh.faces.col(f).data(), 3 * sizeof(int));
    }
    put(mesh.edges.data(), mesh.edges.size() * Eigen::Index(sizeof(int)));
  });
}

}  // namespace apart
