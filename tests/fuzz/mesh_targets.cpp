#include "fuzz_target.hpp"

#include <apart/io/formats.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/io/stitches.hpp>
#include <apart/io/weight_file.hpp>

#include <fmt/format.h>

namespace apart::test {

namespace {

template <class Cells>
bool inside(const Cells& cells, Index points) {
  return cells.size() == 0 || (cells.minCoeff() >= 0 && cells.maxCoeff() < points);
}

void check(const Mesh& mesh) {
  const Index n = mesh.point_count();
  require(mesh.points.allFinite(), "coordinates are finite");
  require(inside(mesh.tetrahedra, n) && inside(mesh.faces, n) && inside(mesh.edges, n) &&
              inside(mesh.vertices, n),
          "every cell has points that exist");
  for (const auto& [name, values] : mesh.cell_data)
    require(values.size() == mesh.tetrahedra.cols(), "cell data have a number for each tetrahedron");
  for (const auto& [name, group] : mesh.groups) {
    for (const int p : group.points) require(p >= 0 && p < n, "points of a group exist");
    for (const int t : group.tetrahedra)
      require(t >= 0 && t < mesh.tetrahedra.cols(), "tetrahedra of a group exist");
    for (const auto& corners : group.triangles)
      for (const int p : corners) require(p >= 0 && p < n, "triangles of a group have points that exist");
  }
}

template <class Matrix>
bool same(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && (a.array() == b.array()).all();
}

void read(std::string_view extension, std::string_view input) {
  const auto file = input_file(fmt::format("input{}", extension), input);
  Mesh mesh;
  if (!accepted([&] { mesh = read_mesh(file); })) return;
  check(mesh);
  const auto copy = input_file(fmt::format("copy{}", extension), "");
  if (!accepted([&] { write_mesh(copy, mesh); })) return;  // some formats cannot write all they read
  const Mesh again = read_mesh(copy);
  require(same(mesh.points, again.points) && same(mesh.tetrahedra, again.tetrahedra) &&
              same(mesh.faces, again.faces) && same(mesh.edges, again.edges) &&
              same(mesh.vertices, again.vertices),
          "what was written is read again as the same mesh");
}

}  // namespace

void read_obj_file(std::string_view input) {
  read(".obj", input);
}
void read_ply_file(std::string_view input) {
  read(".ply", input);
}
void read_stl_file(std::string_view input) {
  read(".stl", input);
}
void read_seg_file(std::string_view input) {
  read(".seg", input);
}
void read_gmsh_file(std::string_view input) {
  read(".msh", input);
}
void read_vtk_file(std::string_view input) {
  read(".vtk", input);
}
void read_vtu_file(std::string_view input) {
  read(".vtu", input);
}

void read_stitch_file(std::string_view input) {
  for (const char* name : {"stitches.txt", "stitches.obj"}) {
    const auto file = input_file(name, input);
    accepted([&] {
      for (const Stitch& s : read_stitches(file))
        require(s.a >= 0 && s.b >= 0 && s.c >= -1 && s.t >= 0 && s.t <= 1, "a stitch makes sense");
    });
  }
}

void read_weight_file(std::string_view input) {
  const auto file = input_file("weights.hdf5", input);
  accepted([&] {
    const WeightFile weights = read_weights(file);
    for (const WeightFile::Entry& e : weights.entries)
      require(e.row >= 0 && e.row < weights.rows && e.column >= 0 && e.column < weights.columns,
              "a weight is in the matrix");
  });
}

}  // namespace apart::test
