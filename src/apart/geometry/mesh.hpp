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

/// A mesh as read from a file or made by a generator: any mixture of cells on one list of points.
/// Plain data; `validate` (mesh_checks.hpp) checks it.
struct Mesh {
  Matrix3X points;        ///< [m], 3 × point count
  Tetrahedra tetrahedra;  ///< 4 × n, may be empty
  Faces faces;            ///< 3 × n, may be empty; surface triangles of a triangle mesh (not of tetrahedra)
  Edges edges;            ///< 2 × n, may be empty; free segments
  Eigen::VectorXi vertices;  ///< free points (isolated vertices used as a point set)
  /// Texture coordinates u, v of the corners of each face, u₀ v₀ u₁ …; empty if none.
  Eigen::Matrix<double, 6, Eigen::Dynamic> face_texture;
  /// Numbers per tetrahedron; not a number where the file has none.
  std::map<std::string, VectorX> cell_data;
  std::map<std::string, MeshGroup> groups;

  Index point_count() const { return Index(points.cols()); }
  bool is_volume() const { return tetrahedra.cols() > 0; }
};

/// The triangles that belong to exactly one tetrahedron, oriented outward, in the order of the tetrahedra.
Faces boundary_faces(const Tetrahedra& tetrahedra);

/// The distinct edges of triangles, each with its smaller index first, sorted.
Edges edges_of(const Faces& faces);

/// The smallest point each point is connected with by cells (one column each).
std::vector<Index> connected_pieces(Index point_count,
                                    std::initializer_list<Eigen::Ref<const Eigen::MatrixXi>> cells);

/// Six times the signed volume of tetrahedron (a, b, c, d): positive if d lies on the side of abc its normal
/// points to.
double signed_volume6(const Vector3& a, const Vector3& b, const Vector3& c, const Vector3& d);

}  // namespace apart
