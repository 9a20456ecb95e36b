#pragma once
// One derivation for all pairs. The squared distance of two primitives is
//     f(x) = min over λ of ‖Σ wᵢ(λ) xᵢ‖²,      r = Σ wᵢ xᵢ,
// where w is affine in the free parameters λ: none for two points, one for point–edge, two for point–triangle
// and edge–edge. At the minimum r ⟂ ∂r/∂λ, so
//     ∇ᵢf = 2 wᵢ r,      ∇²f = 2 w wᵀ⊗I − Q (2 DᵀD)⁻¹ Qᵀ,      D = ∂r/∂λ,   Q = ∂²f/∂x∂λ = 2 (w′⊗r + w⊗D).
#include <apart/core/types.hpp>

#include <array>

namespace apart {

/// What two primitives a stencil is made of. The stencil's points are listed first primitive first.
enum class PairKind : std::uint8_t { point_point, point_edge, point_triangle, edge_edge };

/// Number of points of the stencil, and how many of them belong to the first primitive.
constexpr int point_count(PairKind kind) {
  constexpr int n[] = {2, 3, 4, 4};
  return n[int(kind)];
}
constexpr int first_count(PairKind kind) {
  return kind == PairKind::edge_edge ? 2 : 1;
}

using StencilPoints = std::array<Vector3, 4>;  ///< the first point_count(kind) are used [m]

/// The closest points of a pair: r = Σ weights[i]·x[i] joins them.
/// `slope` column k is ∂w/∂λₖ for the `free` parameters the minimum leaves inside their range.
struct ClosestFeature {
  Vector4 weights = Vector4::Zero();
  Eigen::Matrix<double, 4, 2> slope = Eigen::Matrix<double, 4, 2>::Zero();
  int free = 0;  ///< 0: two points touch first, 1: point and edge, 2: point and triangle, or two edges
};

/// The same without derivatives, for loops over many pairs.
struct ClosestPoints {
  /// Not negative for points of the first primitive, not positive for the second's.
  Vector4 weights = Vector4::Zero();
  Vector3 r = Vector3::Zero();  ///< [m], from the second primitive to the first
  /// Bit i is set if point i takes part: two bits more than there are free parameters.
  unsigned vertices = 0;
};

/// Finds the closest points. Total: degenerate triangles and edges reduce to edges and points; edges whose
/// angle has a sine below 1e-10 are treated as point–edge (thesis A.7.2). Continuous distance for every
/// input. r is good to rounding relative to the size of the stencil, also for thin triangles and nearly
/// parallel edges.
ClosestPoints closest_points(PairKind kind, const StencilPoints& x);

/// The closest points with what derivatives need.
ClosestFeature closest_feature(PairKind kind, const StencilPoints& x);

/// r = Σ wᵢ xᵢ for the first n points.
Vector3 separation(const ClosestFeature& feature, int n, const StencilPoints& x);

/// f [m²].
double squared_distance(PairKind kind, const StencilPoints& x);

using StencilVector = Eigen::Matrix<double, 12, 1>;
using StencilMatrix = Eigen::Matrix<double, 12, 12>;

/// ∇f for a known closest feature; entries past 3·n are zero.
StencilVector squared_distance_gradient(const ClosestFeature& feature, int n, const StencilPoints& x);
/// ∇²f for a known closest feature; rows and columns past 3·n are zero.
StencilMatrix squared_distance_hessian(const ClosestFeature& feature, int n, const StencilPoints& x);

}  // namespace apart
