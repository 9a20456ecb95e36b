#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/mesh_builder.hpp>
#include <apart/io/text_writer.hpp>

#include <array>
#include <map>
#include <ostream>

namespace apart {

namespace {

constexpr std::size_t header_bytes = 84, triangle_bytes = 50;

class StlReader {
 public:
  explicit StlReader(const std::filesystem::path& file) : reader_(file) {}

  Mesh read() {
    // Some binary files begin with "solid" too, so the size decides where it can.
    const std::string_view content = reader_.content();
    std::uint64_t announced = 0;
    if (content.size() >= header_bytes) {
      reader_.set_byte_order(std::endian::little);
      reader_.seek(80);
      announced =
          header_bytes + triangle_bytes * std::uint64_t(reader_.value<std::uint32_t>("number of triangles"));
      reader_.seek(0);
    }
    const bool text = announced != content.size() && lower_case(content.substr(0, 5)) == "solid";
    text ? read_text() : read_binary();
    if (builder_.faces.empty()) reader_.fail("no triangles in the file; it holds no mesh");
    return builder_.build();
  }

 private:
  void read_binary() {
    reader_.set_binary(true);
    reader_.bytes(80, "header (text files begin with 'solid')");
    const Index count = reader_.checked_count(reader_.value<std::uint32_t>("number of triangles"),
                                              "number of triangles", triangle_bytes);
    for (Index t = 0; t < count; ++t) {
      reader_.bytes(12, "normal");
      for (int k = 0; k < 3; ++k) {
        std::array<double, 3> x;
        for (double& c : x) c = reader_.finite(reader_.value<float>("coordinate"), "coordinate");
        add_corner(x);
      }
      reader_.bytes(2, "attribute");
    }
  }

  void read_text() {
    while (reader_.skip_blank()) {
      expect("solid");
      reader_.line();  // its name
      while (true) {
        const std::string word = lower_case(reader_.token("facet or endsolid"));
        if (word == "endsolid") break;
        if (word != "facet")
          reader_.fail("got {}, expected facet or endsolid; the file is damaged", apart::quoted(word));
        expect("normal");
        for (int k = 0; k < 3; ++k) reader_.token("normal");  // may be nan for bad exporters; it is not used
        expect("outer");
        expect("loop");
        for (int k = 0; k < 3; ++k) {
          expect("vertex");
          std::array<double, 3> x;
          for (double& c : x) c = reader_.finite_real("coordinate");
          add_corner(x);
        }
        expect("endloop");
        expect("endfacet");
      }
      reader_.line();
    }
  }

  void expect(std::string_view word) {
    const std::string_view token = reader_.token(word);
    if (lower_case(token) != word)
      reader_.fail("got {}, expected {}; the file is damaged", apart::quoted(token), word);
  }

  /// STL repeats the coordinates of a point in each of its triangles.
  void add_corner(std::array<double, 3> x) {
    for (double& c : x) c += 0.0;  // −0 is the same place as 0
    const auto [entry, is_new] = points_.try_emplace(x, int(builder_.point_count()));
    if (is_new) builder_.add_point(x[0], x[1], x[2]);
    builder_.faces.push_back(entry->second);
  }

  FileReader reader_;
  MeshBuilder builder_;
  std::map<std::array<double, 3>, int> points_;
};

}  // namespace

Mesh read_stl(const std::filesystem::path& file) {
  return StlReader(file).read();
}

void write_stl(const std::filesystem::path& file, const Mesh& mesh) {
  for (const auto& [count, cells] :
       {std::pair(Eigen::Index(mesh.cell_count()), "tetrahedra"), std::pair(mesh.edges.cols(), "lines"),
        std::pair(Eigen::Index(mesh.vertices.size()), "free points")})
    require_no_cells(file, "STL", count, cells, "write .vtu, .vtk or .msh");
  write_atomically(file, [&](std::ostream& out) {
    TextWriter text(out);
    out << "solid mesh\n";
    for (Eigen::Index f = 0; f < mesh.faces.cols(); ++f) {
      out << "facet normal 0 0 0\nouter loop\n";  // zero asks the reader to compute it
      for (int k = 0; k < 3; ++k) text.columns("vertex", mesh.points.col(mesh.faces(k, f)));
      out << "endloop\nendfacet\n";
    }
    out << "endsolid mesh\n";
  });
}

}  // namespace apart
