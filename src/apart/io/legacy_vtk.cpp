#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/mesh_builder.hpp>
#include <apart/io/text_writer.hpp>

#include <algorithm>
#include <array>
#include <limits>
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
      if (keyword == "point_data" || keyword == "cell_data") break;  // what follows is not about the shape
      if (keyword == "metadata")
        skip_metadata();
      else if (keyword == "field")
        skip_field();
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

  NumberType number_type(std::string_view what) {
    const std::string name = lower_case(reader_.token(what));
    for (const NumberType& type : number_types)
      if (type.name == name) return type;
    reader_.fail("{}: got {}, must be a number type like double or int", what, apart::quoted(name));
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

  void skip_field() {
    reader_.token("name of the field");
    const Index arrays = reader_.count("number of arrays", 4);
    for (Index a = 0; a < arrays; ++a) {
      if (lower_case(reader_.token("name of an array")) == "metadata") {
        skip_metadata();
        reader_.token("name of an array");
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
      if (binary_) {
        reader_.checked_count(count, "values of an array", type.bytes);
        reader_.bytes(std::size_t(count) * type.bytes, "values of an array");
      } else {
        for (std::int64_t i = 0; i < count; ++i) reader_.token("value of an array");
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
        used += 1 + points;
        if (points < 0 || used > size)
          reader_.fail("cell {} with {} points does not fit the announced size of the list, {}", c, points,
                       size);
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
    }
  }

  FileReader reader_;
  MeshBuilder builder_;
  std::vector<int> cells_;              ///< points of all cells of a list
  std::vector<std::size_t> cell_ends_;  ///< end of each cell in cells_
  std::vector<int> cell_types_;
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
        mesh.tetrahedra.cols() + mesh.faces.cols() + mesh.edges.cols() + mesh.vertices.size();
    const Eigen::Index numbers =
        cells + mesh.tetrahedra.size() + mesh.faces.size() + mesh.edges.size() + mesh.vertices.size();
    out << "# vtk DataFile Version 3.0\nmesh\nASCII\nDATASET UNSTRUCTURED_GRID\n"
        << fmt::format("POINTS {} double\n", mesh.points.cols());
    text.columns("", mesh.points);
    out << fmt::format("CELLS {} {}\n", cells, numbers);
    text.columns("4", mesh.tetrahedra);
    text.columns("3", mesh.faces);
    text.columns("2", mesh.edges);
    text.columns("1", mesh.vertices.transpose());
    out << fmt::format("CELL_TYPES {}\n", cells);
    const auto types = [&](Eigen::Index count, int type) {
      for (Eigen::Index i = 0; i < count; ++i) out << type << '\n';
    };
    types(mesh.tetrahedra.cols(), vtk_tetrahedron);
    types(mesh.faces.cols(), vtk_triangle);
    types(mesh.edges.cols(), vtk_line);
    types(mesh.vertices.size(), vtk_vertex);
  });
}

}  // namespace apart
