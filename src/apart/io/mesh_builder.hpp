#pragma once
#include <apart/geometry/mesh.hpp>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace apart {

/// Collects a mesh whose size is not known beforehand. Indices count from 0; the readers check their range.
struct MeshBuilder {
  std::vector<double> coordinates;  ///< x y z x y z ...
  std::vector<int> tetrahedra, faces, edges, vertices;
  std::map<int, std::vector<int>> curved;    ///< by degree: points of each cell, in the order of CurvedCells
  std::map<std::string, VectorX> cell_data;  ///< per tetrahedron
  std::map<std::string, MeshGroup> groups;   ///< in any order, with repetitions

  std::size_t point_count() const { return coordinates.size() / 3; }
  Index tetrahedron_count() const;  ///< of all degrees
  /// Whether another array of cell data fits. Some formats can ask for many with few bytes.
  static constexpr std::size_t most_cell_data = 100'000'000;  ///< numbers in all
  bool has_room_for_cell_data() const {
    return (cell_data.size() + 1) * std::size_t(tetrahedron_count()) <= most_cell_data;
  }
  void add_point(double x, double y, double z) { coordinates.insert(coordinates.end(), {x, y, z}); }
  void add_polygon(std::span<const int> corners);  ///< as a fan of triangles around its first corner
  void add_polyline(std::span<const int> points);
  bool has_no_cells() const {
    return tetrahedra.empty() && faces.empty() && edges.empty() && vertices.empty() && curved.empty();
  }
  /// Every point as a free vertex: what a file without cells means where a format has point sets.
  void add_all_vertices();
  Mesh build() const;
};

/// The cells of a file of which some are tetrahedra, and numbers given for all of them.
class CellNumbers {
 public:
  explicit CellNumbers(const MeshBuilder& builder) : tetrahedra_(builder.tetrahedron_count()) {}
  /// Notes a cell of the file that has just been added to the builder.
  void added(const MeshBuilder& builder);
  Index count() const { return Index(tetrahedron_.size()); }  ///< of cells
  /// Takes the numbers of the tetrahedra out of those of all cells.
  void keep(MeshBuilder& builder, const std::string& name, std::span<const double> values) const;

 private:
  std::vector<int> tetrahedron_;  ///< of each cell; -1 for others
  Index tetrahedra_ = 0;          ///< in the builder when the last cell was noted
};

/// Adds a cell given by VTK's number of its type. Returns what is wrong with it and what to do, empty if
/// nothing is.
std::string add_vtk_cell(MeshBuilder& builder, int type, std::span<const int> points);

/// VTK's numbers of the cells a Mesh can hold.
inline constexpr int vtk_vertex = 1, vtk_line = 3, vtk_triangle = 5, vtk_tetrahedron = 10,
                     vtk_lagrange_tetrahedron = 71;

}  // namespace apart
