#pragma once
#include <apart/core/types.hpp>

#include <span>

namespace apart {

/// F = u · diag(sigma) · vᵀ with rotations u and v (determinant +1) and sigma[0] ≥ sigma[1] ≥ |sigma[2]|; the
/// last singular value carries the sign of det F.
struct SignedSvd {
  Matrix3 u, v;
  Vector3 sigma;
};

/// One-sided Jacobi: accurate to rounding for small singular values too, total (zero and rank-deficient F
/// included).
/// Entries should lie within 1e±60: fourth powers are formed.
SignedSvd signed_svd(const Matrix3& f);

/// The same of several matrices, in vector registers: each result has the bits of signed_svd of its matrix
/// alone, in a fifth of the time.
void signed_svds(std::span<const Matrix3> f, std::span<SignedSvd> results);

/// F = (first two columns of u) · diag(sigma) · vᵀ with rotations u (3×3, its last column normal to the image
/// of F) and v (2×2), and sigma[0] ≥ sigma[1] ≥ 0.
struct ThinSvd {
  Matrix3 u;
  Eigen::Matrix2d v;
  Eigen::Vector2d sigma;
};

/// Of a 3×2 matrix: one Jacobi rotation, accurate to rounding for small singular values too, total.
ThinSvd thin_svd(const Eigen::Matrix<double, 3, 2>& f);

}  // namespace apart
