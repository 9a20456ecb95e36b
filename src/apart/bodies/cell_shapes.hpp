#pragma once
#include <apart/basis/lagrange_tetrahedron.hpp>
#include <apart/geometry/mesh.hpp>

#include <optional>

namespace apart {

/// Tetrahedra of one degree as maps g from the reference tetrahedron: x = Σ X_a φ_a(ξ).
class CellShapes {
 public:
  /// `cells`: the points of each, in the order of tetrahedron_lattice.
  CellShapes(Matrix3X points, Eigen::MatrixXi cells, int degree);
  /// The cells of a mesh, which must be of one degree.
  explicit CellShapes(const Mesh& mesh);

  int degree() const { return basis_.degree(); }
  const LagrangeTetrahedron& basis() const { return basis_; }
  Index count() const { return Index(cells_.cols()); }
  const Eigen::MatrixXi& cells() const { return cells_; }
  Tetrahedra corners() const { return cells_.topRows<4>(); }
  Matrix3X points(Index cell) const { return points_(Eigen::all, cells_.col(cell)); }
  Vector3 place(Index cell, const Vector3& xi) const { return points(cell) * basis_.values(xi); }
  Matrix3 slope(Index cell, const Vector3& xi) const {
    return points(cell) * basis_.gradients(xi).transpose();
  }
  /// ξ with g(ξ) = x, in the tetrahedron or around it; none if Newton's method finds none there.
  std::optional<Vector3> inverse(Index cell, const Vector3& x) const;

 private:
  Matrix3X points_;
  Eigen::MatrixXi cells_;
  LagrangeTetrahedron basis_;
};

/// How points follow cells: each is at ξ of one of them.
struct Embedding {
  std::vector<Index> cell;
  Matrix3X xi;
  /// Σ|φ_a(ξ)|: by how much an error of the nodes can grow on the way to the point. 1 in a linear cell.
  VectorX growth;
  Index outside = 0;  ///< points that lie in no cell, and follow one around it
};

/// A point in several cells, or in none, follows the cell with the smallest growth; of equals, the first.
/// Throws InputError that begins with `where` for a point that no cell near it can be followed from.
Embedding embed(const Matrix3X& points, const CellShapes& shapes, const std::string& where);

}  // namespace apart
