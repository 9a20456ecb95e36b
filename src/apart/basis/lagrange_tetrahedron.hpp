#pragma once
#include <apart/core/types.hpp>

#include <array>
#include <vector>

namespace apart {

/// A point of the equispaced lattice of a tetrahedron of degree p: its barycentric coordinates times p, four
/// integers that add up to p.
using LatticePoint = std::array<int, 4>;

inline constexpr int largest_degree = 4;  ///< of tetrahedra

/// How many lattice points a tetrahedron of a degree has: 1, 4, 10, 20, 35, …
constexpr Index tetrahedron_lattice_size(int degree) {
  return Index((degree + 1) * (degree + 2) * (degree + 3) / 6);
}

/// The lattice in the order of Gmsh, which is the order of nodes everywhere in Apart: corners; the inner
/// points of the edges 01, 12, 20, 30, 32, 31, each from its first end to its second; the inner points of the
/// faces 021, 013, 032, 312, each as a triangle of degree p − 3; the interior, as a tetrahedron of degree
/// p − 4.
std::vector<LatticePoint> tetrahedron_lattice(int degree);

/// For each node in the order of VTK's Lagrange tetrahedron (cell type 71) its place in the order above.
std::vector<Index> vtk_node_order(int degree);

/// Lagrange polynomials on the lattice of the reference tetrahedron with the corners 0, e₁, e₂, e₃. The one
/// of lattice point α is, with λ₀ = 1 − ξ₁ − ξ₂ − ξ₃ and λᵢ = ξᵢ,
///   φ_α(ξ) = Π_j Π_{m < α_j} (p λ_j − m) / (m + 1):
/// 1 at its own point, 0 at the others, and all of them add up to 1.
class LagrangeTetrahedron {
 public:
  /// `degree`: p, from 1 to largest_degree.
  explicit LagrangeTetrahedron(int degree);
  int degree() const { return degree_; }
  Index node_count() const { return Index(lattice_.size()); }
  const std::vector<LatticePoint>& lattice() const { return lattice_; }
  /// Reference coordinates ξ of the nodes, 3 × node_count().
  Matrix3X nodes() const;
  /// φ at ξ, also outside of the tetrahedron.
  VectorX values(const Vector3& xi) const;
  /// ∂φ/∂ξ at ξ, 3 × node_count().
  Matrix3X gradients(const Vector3& xi) const;

 private:
  int degree_;
  std::vector<LatticePoint> lattice_;
};

}  // namespace apart
