#pragma once
#include <apart/core/types.hpp>

namespace apart {

/// ∫ f ≈ Σ weights[k] f(points.col(k)) over a reference cell.
struct Quadrature {
  Eigen::MatrixXd points;  ///< ξ, one column each: of 3 numbers for the tetrahedron, of 2 for the triangle
  VectorX weights;         ///< all positive: an energy density that grows without bound is never subtracted
  Index size() const { return Index(weights.size()); }
};

inline constexpr int largest_quadrature_degree = 30;

/// Exact for polynomials up to `degree` on the tetrahedron 0, e₁, e₂, e₃, whose volume is 1/6. Rules of Xiao
/// and Gimbutas up to degree 15, products of Gauss and Jacobi rules beyond.
Quadrature tetrahedron_quadrature(int degree);
/// The rule on each of the eight tetrahedra, of an eighth of the volume, that the reference tetrahedron is
/// cut into at the middles of its edges, one after the other.
Quadrature refined(const Quadrature& on_tetrahedron);
/// Which of these eight a point lies in, or lies nearest to; of several the first.
Index refined_part(const Vector3& xi);
/// The same on the triangle 0, e₁, e₂, whose area is 1/2.
Quadrature triangle_quadrature(int degree);

}  // namespace apart
