#pragma once
#include <apart/core/types.hpp>

#include <array>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace apart {

/// Cells of a mesh that its file gives a common name.
struct MeshGroup {
  std::vector<int> points;      ///< of all its cells, whatever their kind; ascending
  std::vector<int> tetrahedra;  ///< positions in Mesh::tetrahedra, ascending
  /// Corners, each ascending, all in order; sides of tetrahedra too.
  std::vector<std::array<int, 3>> triangles;
};

/// Tetrahedra of one degree that may be curved, or whose surface is another one than their boundary. Each is
/// the image of a reference tetrahedron under the polynomials of that degree that take the points of its
/// lattice to these points.
struct CurvedCells {
  int degree = 2;
  Eigen::MatrixXi points;  ///< a column per cell, in the order of tetrahedron_lattice (basis), corners first
  bool operator==(const CurvedCells&) const = default;
};

/// A mesh as read from a file or made by a generator: any mixture of cells on one list of points.
/// Plain data; `validate` (mesh_checks.hpp) checks it.
struct Mesh {
  Matrix3X points;        ///< [m], 3 × point count
  Tetrahedra tetrahedra;  ///< 4 × n, may be empty
  /// At most one list for each degree, ascending. They are not among `tetrahedra`; their surface, if it is
  /// known, is in `faces`.
  std::vector<CurvedCells> curved;
  Faces faces;  ///< 3 × n, may be empty; triangles that belong to no tetrahedron, and the surface of curved
                ///< ones
  Edges edges;  ///< 2 × n, may be empty; free segments
  Eigen::VectorXi vertices;  ///< free points (isolated vertices used as a point set)
  /// Texture coordinates u, v of the corners of each face, u₀ v₀ u₁ …; empty if none.
  Eigen::Matrix<double, 6, Eigen::Dynamic> face_texture;
  /// Numbers per tetrahedron; not a number where the file has none.
  std::map<std::string, VectorX> cell_data;
  std::map<std::string, MeshGroup> groups;

  Index point_count() const { return Index(points.cols()); }
  bool is_volume() const { return tetrahedra.cols() > 0 || !curved.empty(); }
  Index curved_count() const;  ///< of curved cells
  /// Of all tetrahedra. Groups and cell data count the curved ones after the others.
  Index cell_count() const { return Index(tetrahedra.cols()) + curved_count(); }
  Tetrahedra corners() const;  ///< of all tetrahedra
};

/// The triangles that belong to exactly one tetrahedron, oriented outward, in the order of the tetrahedra.
Faces boundary_faces(const Tetrahedra& tetrahedra);

/// The same of curved cells: n² triangles for each of their faces, on the points of its lattice.
Faces boundary_faces(const CurvedCells& cells);

/// The same cells in the order in which they are positive in a mirror.
CurvedCells mirrored(const CurvedCells& cells);

/// The distinct edges of triangles, each with its smaller index first, sorted.
Edges edges_of(const Faces& faces);
/// The edges that no second triangle passes in the opposite direction, each as its triangle passes it, in the
/// order of the triangles.
Edges boundary_edges(const Faces& faces);

/// The smallest point each point is connected with by cells (one column each).
std::vector<Index> connected_pieces(Index point_count,
                                    std::initializer_list<Eigen::Ref<const Eigen::MatrixXi>> cells);

/// Six times the signed volume of tetrahedron (a, b, c, d): positive if d lies on the side of abc its normal
/// points to.
double signed_volume6(const Vector3& a, const Vector3& b, const Vector3& c, const Vector3& d);

}  // namespace apart
