#pragma once
// The few names every layer uses. Lengths are metres, masses kilograms, times seconds.
#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <vector>

namespace apart {

using Index = int;
using Vector3 = Eigen::Vector3d;
using Vector4 = Eigen::Vector4d;
using Matrix3 = Eigen::Matrix3d;
using VectorX = Eigen::VectorXd;
using Matrix3X = Eigen::Matrix3Xd;  ///< one column per point

inline constexpr double infinity = std::numeric_limits<double>::infinity();
/// Largest relative error of one rounded operation, 2⁻⁵³.
inline constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2;

using Edges = Eigen::Matrix2Xi;  ///< vertex indices, one column per edge
using Faces = Eigen::Matrix3Xi;  ///< vertex indices, one column per triangle, outward orientation if closed
using Tetrahedra = Eigen::Matrix4Xi;  ///< vertex indices, one column per tetrahedron, positive volume at rest

/// A buffer that Eigen maps. Vectorised loops begin where memory is aligned, and round differently before
/// that place: with the default allocator of std::vector bits would depend on the address. Parts of it begin
/// at multiples of `aligned_step` numbers.
using AlignedBuffer = std::vector<double, Eigen::aligned_allocator<double>>;
inline constexpr std::size_t aligned_step = 4;
static_assert(EIGEN_DEFAULT_ALIGN_BYTES <= aligned_step * sizeof(double));
constexpr std::size_t next_aligned(std::size_t number) {
  return (number + aligned_step - 1) / aligned_step * aligned_step;
}

}  // namespace apart
