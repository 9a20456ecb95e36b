#pragma once
// The few names every layer uses. Lengths are metres, masses kilograms, times seconds.
#include <Eigen/Core>
#include <cstdint>
#include <limits>

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

}  // namespace apart
