#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/mesh_builder.hpp>
#include <apart/io/text_writer.hpp>

#include <ostream>

namespace apart {

// Lines "v x y z" and "s i j", the points counted from 1.
Mesh read_seg(const std::filesystem::path& file) {
  FileReader reader(file);
  MeshBuilder builder;
  std::int64_t largest = 0;
  std::size_t largest_mark = 0;
  while (reader.skip_blank()) {
    const std::string_view keyword = reader.token("v or s");
    if (keyword == "v") {
      double x[3];
      for (double& c : x) c = reader.finite_real("coordinate of a point");
      builder.add_point(x[0], x[1], x[2]);
    } else if (keyword == "s") {
      for (int k = 0; k < 2; ++k) {
        const std::int64_t i = reader.integer("point of a segment");
        if (i < 1 || i > std::numeric_limits<int>::max())
          reader.fail("point of a segment: got {}, must be at least 1", i);
        if (i > largest) {  // points may follow later: checked at the end
          largest = i;
          largest_mark = reader.mark();
        }
        builder.edges.push_back(int(i - 1));
      }
    } else if (keyword.front() != '#') {
      reader.fail("got {}, expected 'v x y z' or 's i j'", apart::quoted(keyword));
    }
    reader.line();  // the rest of the line: a comment
  }
  if (largest > std::int64_t(builder.point_count()))
    reader.fail_at(largest_mark,
                   fmt::format("point {} does not exist, the file has {}", largest, builder.point_count()));
  if (builder.edges.empty()) reader.fail("no segments ('s i j') in the file; it holds no mesh");
  return builder.build();
}

void write_seg(const std::filesystem::path& file, const Mesh& mesh) {
  for (const auto& [count, cells] :
       {std::pair(Eigen::Index(mesh.cell_count()), "tetrahedra"), std::pair(mesh.faces.cols(), "triangles"),
        std::pair(Eigen::Index(mesh.vertices.size()), "free points")})
    require_no_cells(file, "SEG", count, cells, "write .vtu, .vtk or .msh");
  write_atomically(file, [&](std::ostream& out) {
    TextWriter text(out);
    text.columns("v", mesh.points);
    text.columns("s", mesh.edges, 1);
  });
}

}  // namespace apart
