#include <apart/io/file_reader.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/mesh_format.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <vector>

namespace apart {

namespace {

constexpr MeshFormat formats[] = {
    {"gmsh", ".msh",
     "Gmsh 2.2 and 4.1, text and binary, tetrahedra of degree 1 to 4, read with groups and cell data; "
     "written as 4.1 text",
     read_gmsh, write_gmsh},
    {"vtk", ".vtk",
     "legacy VTK, text and binary, unstructured grid and polydata, read with cell data; written as text",
     read_legacy_vtk, write_legacy_vtk},
    {"vtu", ".vtu",
     "VTK XML unstructured grid, text, binary or zlib-compressed, read with cell data; written as binary",
     read_vtu, write_vtu_file},
    {"obj", ".obj", "Wavefront OBJ: polygons, lines, points; a file with vertices alone is a point set",
     read_obj, write_obj},
    {"ply", ".ply", "PLY, text and binary: polygons, edges; a file with vertices alone is a point set",
     read_ply, write_ply},
    {"stl", ".stl", "STL, text and binary; equal coordinates become one point; written as text", read_stl,
     write_stl},
    {"seg", ".seg", "segments: lines 'v x y z' and 's i j'", read_seg, write_seg},
};

const MeshFormat& format_of(const std::filesystem::path& file) {
  const std::string extension = lower_case(file.extension().string());
  for (const MeshFormat& format : formats)
    if (format.extension == extension) return format;
  std::string known;
  for (const MeshFormat& format : formats)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", format.extension);
  throw InputError("{}: unknown mesh format '{}'; known are {}", file.string(), file.extension().string(),
                   known);
}

template <int size>
using Corners = std::array<int, size>;

/// The parts with `part_size` corners of all cells, each sorted, in order.
template <int part_size, class Cells>
void collect_parts(const Cells& cells, std::vector<Corners<part_size>>& parts) {
  constexpr int size = Cells::RowsAtCompileTime;
  for (Eigen::Index c = 0; c < cells.cols(); ++c)
    for (unsigned mask = 0; mask < 1u << size; ++mask) {
      if (std::popcount(mask) != part_size) continue;
      Corners<part_size> part;
      for (int k = 0, n = 0; k < size; ++k)
        if (mask >> k & 1) part[std::size_t(n++)] = cells(k, c);
      std::sort(part.begin(), part.end());
      parts.push_back(part);
    }
}

/// The cells that are no part of a larger one.
template <class Cells, class... Larger>
Cells without_parts(const Cells& cells, const Larger&... larger) {
  constexpr int size = Cells::RowsAtCompileTime;
  if (cells.cols() == 0 || ((larger.cols() == 0) && ...)) return cells;
  std::vector<Corners<size>> parts, own;
  (collect_parts<size>(larger, parts), ...);
  std::sort(parts.begin(), parts.end());
  collect_parts<size>(cells, own);
  Cells kept(cells.rows(), cells.cols());
  Eigen::Index count = 0;
  for (Eigen::Index c = 0; c < cells.cols(); ++c)
    if (!std::binary_search(parts.begin(), parts.end(), own[std::size_t(c)]))
      kept.col(count++) = cells.col(c);
  return kept.leftCols(count);
}

/// Gmsh and others write the triangles, lines and points of the geometry beside the tetrahedra. As parts of
/// larger cells they say nothing new, and a Mesh lists only free ones.
void leave_out_parts(Mesh& mesh) {
  using Vertices = Eigen::Matrix<int, 1, Eigen::Dynamic>;
  const Tetrahedra cells = mesh.corners();
  mesh.vertices =
      without_parts(Vertices(mesh.vertices.transpose()), cells, mesh.faces, mesh.edges).transpose();
  mesh.edges = without_parts(mesh.edges, cells, mesh.faces);
  mesh.faces = without_parts(mesh.faces, cells);
}

}  // namespace

std::span<const MeshFormat> mesh_formats() {
  return formats;
}

Mesh read_mesh(const std::filesystem::path& file) {
  const MeshFormat& format = format_of(file);
  try {
    Mesh mesh = format.read(file);
    if (!mesh.curved.empty() && mesh.curved.front().degree == 1 && mesh.tetrahedra.cols() == 0) {
      mesh.tetrahedra = mesh.curved.front().points;
      mesh.curved.erase(mesh.curved.begin());
    }
    if (mesh.point_count() == 0) throw InputError("{}: has no points; it holds no mesh", file.string());
    if (mesh.cell_count() + mesh.faces.cols() + mesh.edges.cols() + mesh.vertices.size() == 0)
      throw InputError("{}: has points but no cells; export tetrahedra, triangles, lines or points",
                       file.string());
    leave_out_parts(mesh);
    return mesh;
  } catch (const std::bad_alloc&) {
    throw InputError("{}: does not fit into memory; use a smaller mesh", file.string());
  }
}

void write_mesh(const std::filesystem::path& file, const Mesh& mesh) {
  format_of(file).write(file, mesh);
}

}  // namespace apart
