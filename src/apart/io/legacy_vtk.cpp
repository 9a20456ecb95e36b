#include <apart/basis/lagrange_tetrahedron.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/mesh_builder.hpp>
#include <apart/io/text_writer.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <ostream>

namespace apart {

namespace {

struct NumberType {
  std::string_view name;
  std::size_t bytes;
  char kind;  ///< 'f' floating, 'i' signed, 'u' unsigned
};
constexpr NumberType number_types[] = {
    {"double", 8, 'f'},        {"float", 4, 'f'},          {"int", 4, 'i'},
    {"vtkidtype", 4, 'i'},     {"unsigned_int", 4, 'u'},   {"long", 8, 'i'},
    {"unsigned_long", 8, 'u'}, {"vtktypeint64", 8, 'i'},   {"vtktypeuint64", 8, 'u'},
    {"short", 2, 'i'},         {"unsigned_short", 2, 'u'}, {"char", 1, 'i'},
    {"unsigned_char", 1, 'u'}};

class LegacyVtkReader {
 public:
  explicit LegacyVtkReader(const std::filesystem::path& file) : reader_(file) {}

  Mesh read() {
    read_header();
    while (reader_.skip_blank()) {
      const std::string keyword = lower_case(reader_.token("keyword"));
      if (keyword == "point_data" || keyword == "cell_data") {  // nothing of the shape follows
        read_cell_data(keyword == "point_data");
        break;
      }
      if (keyword == "metadata")
        skip_metadata();
      else if (keyword == "field")
        read_field();
      else if (keyword == "points")
        read_points();
      else if (keyword == "cells" && !polydata_)
        read_cells(-1);
      else if (keyword == "cell_types" && !polydata_)
        read_cell_types();
      else if (keyword == "vertices" && polydata_)
        read_cells(2);
      else if (keyword == "lines" && polydata_)
        read_cells(4);
      else if (keyword == "polygons" && polydata_)
        read_cells(7);
      else if (keyword == "triangle_strips" && polydata_)
        read_cells(6);
      else
        reader_.fail("unknown keyword {}; the file is damaged or longer than announced",
                     apart::quoted(keyword));
    }
    if (builder_.point_count() == 0) reader_.fail("no points in the file; it holds no mesh");
    if (!polydata_ && cell_ends_.empty())
      reader_.fail("no CELLS in the file; it was cut off or holds no mesh");
    if (!polydata_) add_cells();
    for (const auto& [name, values] : cell_data_) numbers_.keep(builder_, name, values);
    if (builder_.has_no_cells()) builder_.add_all_vertices();
    return builder_.build();
  }

 private:
  void read_header() {
    const std::string_view mark = "# vtk DataFile Version ";
    const std::string_view first = reader_.line();
    if (!first.starts_with(mark))
      reader_.fail("not a legacy VTK file: its first line must begin with '{}'", mark);
    const auto version =
        parse_real(first.substr(mark.size(), first.find_last_not_of(" \t") + 1 - mark.size()));
    if (!version)
      reader_.fail("version: got {}, expected a number like 3.0", apart::quoted(first.substr(mark.size())));
    offsets_and_connectivity_ = *version >= 5;
    reader_.line();  // title
    const std::string format = lower_case(reader_.token("ASCII or BINARY"));
    if (format != "ascii" && format != "binary")
      reader_.fail("format: got {}, must be ASCII or BINARY", apart::quoted(format));
    binary_ = format == "binary";
    reader_.set_byte_order(std::endian::big);
    if (lower_case(reader_.token("DATASET")) != "dataset")
      reader_.fail("expected DATASET; the file is damaged");
    const std::string type = lower_case(reader_.token("type of the data set"));
    if (type != "unstructured_grid" && type != "polydata")
      reader_.fail("data set {} is not supported; save the mesh as UNSTRUCTURED_GRID or POLYDATA",
                   apart::quoted(type));
    polydata_ = type == "polydata";
    reader_.set_binary(binary_);
  }

  std::optional<NumberType> find_number_type(std::string_view what) {
    const std::string name = lower_case(reader_.token(what));
    for (const NumberType& type : number_types)
      if (type.name == name) return type;
    return std::nullopt;
  }
  NumberType number_type(std::string_view what) {
    const std::size_t mark = reader_.position();
    if (const auto type = find_number_type(what)) return *type;
    reader_.seek(mark);
    reader_.fail("{}: got {}, must be a number type like double or int", what,
                 apart::quoted(reader_.token(what)));
  }

  /// Numbers as text or binary.
  double real(const NumberType& type, std::string_view what) {
    if (!binary_) return reader_.real(what);
    if (type.kind == 'f')
      return type.bytes == 8 ? reader_.value<double>(what) : double(reader_.value<float>(what));
    return double(integer(type, what));
  }
  std::int64_t integer(const NumberType& type, std::string_view what) {
    if (type.kind == 'f') reader_.fail("{}: has type {}, must have an integer type", what, type.name);
    if (!binary_) return reader_.integer(what);
    const bool is_signed = type.kind == 'i';
    switch (type.bytes) {
      case 1:
        return is_signed ? reader_.value<std::int8_t>(what) : std::int64_t(reader_.value<std::uint8_t>(what));
      case 2:
        return is_signed ? reader_.value<std::int16_t>(what)
                         : std::int64_t(reader_.value<std::uint16_t>(what));
      case 4:
        return is_signed ? reader_.value<std::int32_t>(what)
                         : std::int64_t(reader_.value<std::uint32_t>(what));
      default:
        return reader_.value<std::int64_t>(what);
    }
  }
  std::size_t bytes_of(const NumberType& type) const { return binary_ ? type.bytes : 1; }

  /// METADATA belongs to the array before it and ends with an empty line.
  void skip_metadata() {
    reader_.line();
    while (!reader_.at_end() && reader_.line().find_first_not_of(" \t") != std::string_view::npos) {
    }
  }

  std::vector<double> read_numbers(const NumberType& type, std::int64_t count, std::string_view what) {
    reader_.checked_count(count, what, bytes_of(type));
    std::vector<double> values;
    values.reserve(std::size_t(count));
    for (std::int64_t i = 0; i < count; ++i) values.push_back(real(type, what));
    return values;
  }

  /// A FIELD, behind that word. `keep`: it belongs to the cells, and has numbers of them.
  void read_field(bool keep = false) {
    reader_.token("name of the field");
    const Index arrays = reader_.count("number of arrays", 4);
    for (Index a = 0; a < arrays; ++a) {
      std::string name(reader_.token("name of an array"));
      if (lower_case(name) == "metadata") {
        skip_metadata();
        name = reader_.token("name of an array");
      }
      const Index components = reader_.count("number of components", 1);
      const Index tuples = reader_.count("number of tuples", 1);
      const std::int64_t count = std::int64_t(components) * tuples;
      const std::size_t mark = reader_.position();
      if (lower_case(reader_.token("type of an array")) == "string") {
        if (binary_)
          reader_.fail("arrays of strings in binary files are not supported; save the file as ASCII");
        reader_.line();
        for (std::int64_t i = 0; i < count && !reader_.at_end(); ++i) reader_.line();
        continue;
      }
      reader_.seek(mark);
      const NumberType type = number_type("type of an array");
      reader_.line();
      std::vector<double> values = read_numbers(type, count, "value of an array");
      if (keep && components == 1) keep_cell_data(name, std::move(values));
    }
  }

  void keep_cell_data(std::string_view name, std::vector<double> values) {
    if (values.size() != cell_ends_.size())
      reader_.fail("cell data {} has {} values, must have one for each of the {} cells", apart::quoted(name),
                   values.size(), cell_ends_.size());
    // VTK writes names with %20 for a blank, and so on.
    std::string decoded;
    for (std::size_t i = 0; i < name.size(); ++i) {
      int code = 0;
      const char *digits = name.data() + i + 1, *end = digits + 2;
      if (name[i] == '%' && i + 2 < name.size() && std::from_chars(digits, end, code, 16).ptr == end) {
        decoded += char(code);
        i += 2;
      } else {
        decoded += name[i];
      }
    }
    cell_data_.insert_or_assign(std::move(decoded), std::move(values));
  }

  /// Keeps the arrays of CELL_DATA with one number for each cell. Reading ends at the first thing that is not
  /// known: nothing that a mesh needs can follow.
  void read_cell_data(bool behind_point_data) {
    if (polydata_) return;  // no tetrahedra
    if (behind_point_data) {
      for (const std::string_view word : {"\nCELL_DATA", "\ncell_data"})
        if (const std::size_t at = reader_.content().find(word, reader_.position());
            at != std::string::npos) {
          reader_.seek(at + word.size());
          behind_point_data = false;
          break;
        }
      if (behind_point_data) return;
    }
    const std::int64_t cells = reader_.integer("number of cells with data");
    if (cells != std::int64_t(cell_ends_.size()))
      reader_.fail("CELL_DATA is of {} cells, but the file has {}", cells, cell_ends_.size());
    reader_.line();
    const NumberType color{"unsigned_char", 1, 'u'};
    while (reader_.skip_blank()) {
      const std::string keyword = lower_case(reader_.token("keyword"));
      if (keyword == "metadata") {
        skip_metadata();
        continue;
      }
      if (keyword == "field") {
        read_field(true);
        continue;
      }
      const std::int64_t components = keyword == "vectors" || keyword == "normals" ? 3
                                      : keyword == "tensors"                       ? 9
                                      : keyword == "tensors6"                      ? 6
                                                                                   : 1;
      if (keyword == "scalars") {
        const std::string name(reader_.token("name of the scalars"));
        const auto type = find_number_type("type of the scalars");
        if (!type) return;
        const std::string_view given = reader_.token_on_line();
        const std::int64_t each = given.empty() ? 1 : parse_integer(given).value_or(0);
        if (each < 1 || each > 4)
          reader_.fail("components of the scalars: got {}, must be 1 to 4", apart::quoted(given));
        reader_.line();
        const std::size_t mark = reader_.position();
        if (reader_.skip_blank() && lower_case(reader_.token("LOOKUP_TABLE")) == "lookup_table")
          reader_.line();
        else
          reader_.seek(mark);
        std::vector<double> values = read_numbers(*type, each * cells, "value of the scalars");
        if (each == 1) keep_cell_data(name, std::move(values));
      } else if (components > 1 || keyword == "global_ids" || keyword == "pedigree_ids") {
        reader_.token("name of the data");
        const auto type = find_number_type("type of the data");
        if (!type) return;
        reader_.line();
        read_numbers(*type, components * cells, "value of the data");
      } else if (keyword == "color_scalars" || keyword == "lookup_table") {
        reader_.token("name of the colours");
        const Index count = reader_.count("number of colours", 1);
        reader_.line();
        read_numbers(color, keyword == "lookup_table" ? 4 * std::int64_t(count) : count * cells, "colour");
      } else {
        return;
      }
    }
  }

  void read_points() {
    if (builder_.point_count() > 0) reader_.fail("a second POINTS section; keep one mesh per file");
    const std::int64_t count = reader_.integer("number of points");
    const NumberType type = number_type("type of the points");
    reader_.line();
    reader_.checked_count(count, "number of points", 3 * bytes_of(type));
    for (std::int64_t i = 0; i < count; ++i) {
      double x[3];
      for (double& c : x) c = reader_.finite(real(type, "coordinate"), "coordinate");
      builder_.add_point(x[0], x[1], x[2]);
    }
  }

  int index(std::int64_t p) const {
    if (p < 0 || p >= std::int64_t(builder_.point_count()))
      reader_.fail("point of a cell: got {}, must lie in [0, {})", p, builder_.point_count());
    return int(p);
  }

  /// A list of cells. `type` ≥ 0: all of that type; otherwise kept until their types are known.
  void read_cells(int type) {
    cells_.clear();
    cell_ends_.clear();
    const NumberType int_type = {"int", 4, 'i'};
    const Index count = reader_.count("number of cells", 1);
    const std::int64_t size = reader_.integer("size of the list of cells");
    reader_.line();
    if (offsets_and_connectivity_) {
      read_offsets_and_connectivity(count, size);
    } else {
      reader_.checked_count(size, "size of the list of cells", bytes_of(int_type));
      std::int64_t used = 0;
      for (Index c = 0; c < count; ++c) {
        const std::int64_t points = integer(int_type, "number of points of a cell");
        // Not 1 + points first, which may be beyond the largest integer.
        if (points < 0 || used >= size || points > size - used - 1)
          reader_.fail("cell {} with {} points does not fit the announced size of the list, {}", c, points,
                       size);
        used += 1 + points;
        for (std::int64_t k = 0; k < points; ++k)
          cells_.push_back(index(integer(int_type, "point of a cell")));
        cell_ends_.push_back(cells_.size());
      }
    }
    if (type < 0) return;
    cell_types_.assign(cell_ends_.size(), type);
    add_cells();
  }

  /// Since version 5: "OFFSETS type", count numbers, the first 0; "CONNECTIVITY type", size numbers.
  void read_offsets_and_connectivity(Index count, std::int64_t size) {
    if (count == 0) return;
    if (lower_case(reader_.token("OFFSETS")) != "offsets")
      reader_.fail("expected OFFSETS; the file is damaged");
    const NumberType offset_type = number_type("type of the offsets");
    reader_.line();
    reader_.checked_count(count, "number of offsets", bytes_of(offset_type));
    std::int64_t last = 0;
    for (Index c = 0; c < count; ++c) {
      const std::int64_t offset = integer(offset_type, "offset");
      if (offset < last || offset > size || (c == 0 && offset != 0))
        reader_.fail("offset {}: got {}, offsets must begin at 0, not decrease, and end at {}", c, offset,
                     size);
      if (c > 0) cell_ends_.push_back(std::size_t(offset));
      last = offset;
    }
    if (last != size) reader_.fail("the last offset is {}, must be {}", last, size);
    if (lower_case(reader_.token("CONNECTIVITY")) != "connectivity")
      reader_.fail("expected CONNECTIVITY; the file is damaged");
    const NumberType type = number_type("type of the connectivity");
    reader_.line();
    reader_.checked_count(size, "size of the connectivity", bytes_of(type));
    for (std::int64_t i = 0; i < size; ++i) cells_.push_back(index(integer(type, "point of a cell")));
  }

  void read_cell_types() {
    const NumberType int_type = {"int", 4, 'i'};
    const std::int64_t count = reader_.integer("number of cell types");
    reader_.line();
    reader_.checked_count(count, "number of cell types", bytes_of(int_type));
    cell_types_.clear();
    for (std::int64_t i = 0; i < count; ++i)
      cell_types_.push_back(int(std::clamp<std::int64_t>(integer(int_type, "cell type"), -1, 1000)));
  }

  void add_cells() {
    if (cell_types_.size() != cell_ends_.size())
      reader_.fail("the file has {} cells and {} cell types; it was cut off or damaged", cell_ends_.size(),
                   cell_types_.size());
    for (std::size_t c = 0, begin = 0; c < cell_ends_.size(); begin = cell_ends_[c++]) {
      const std::span<const int> points(cells_.data() + begin, cell_ends_[c] - begin);
      if (const std::string problem = add_vtk_cell(builder_, cell_types_[c], points); !problem.empty())
        reader_.fail("cell {}: {}", c, problem);
      numbers_.added(builder_);
    }
  }

  FileReader reader_;
  MeshBuilder builder_;
  std::vector<int> cells_;              ///< points of all cells of a list
  std::vector<std::size_t> cell_ends_;  ///< end of each cell in cells_
  std::vector<int> cell_types_;
  CellNumbers numbers_{builder_};
  std::map<std::string, std::vector<double>> cell_data_;  ///< a number for every cell
  bool binary_ = false, polydata_ = false;
  bool offsets_and_connectivity_ = false;  ///< how versions from 5 on store cells
};

}  // namespace

Mesh read_legacy_vtk(const std::filesystem::path& file) {
  return LegacyVtkReader(file).read();
}

void write_legacy_vtk(const std::filesystem::path& file, const Mesh& mesh) {
  write_atomically(file, [&](std::ostream& out) {
    TextWriter text(out);
    const Eigen::Index cells =
        mesh.cell_count() + mesh.faces.cols() + mesh.edges.cols() + mesh.vertices.size();
    Eigen::Index numbers =
        cells + mesh.tetrahedra.size() + mesh.faces.size() + mesh.edges.size() + mesh.vertices.size();
    for (const CurvedCells& curved : mesh.curved) numbers += curved.points.size();
    out << "# vtk DataFile Version 3.0\nmesh\nASCII\nDATASET UNSTRUCTURED_GRID\n"
        << fmt::format("POINTS {} double\n", mesh.points.cols());
    text.columns("", mesh.points);
    out << fmt::format("CELLS {} {}\n", cells, numbers);
    text.columns("4", mesh.tetrahedra);
    text.columns("3", mesh.faces);
    text.columns("2", mesh.edges);
    text.columns("1", mesh.vertices.transpose());
    for (const CurvedCells& curved : mesh.curved)
      text.columns(fmt::format("{}", curved.points.rows()),
                   curved.points(vtk_node_order(curved.degree), Eigen::all));
    out << fmt::format("CELL_TYPES {}\n", cells);
    const auto types = [&](Eigen::Index count, int type) {
      for (Eigen::Index i = 0; i < count; ++i) out << type << '\n';
    };
    types(mesh.tetrahedra.cols(), vtk_tetrahedron);
    types(mesh.faces.cols(), vtk_triangle);
    types(mesh.edges.cols(), vtk_line);
    types(mesh.vertices.size(), vtk_vertex);
    types(mesh.curved_count(), vtk_lagrange_tetrahedron);
  });
}

}  // namespace apart
