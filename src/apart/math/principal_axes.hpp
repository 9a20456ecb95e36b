#pragma once
#include <apart/core/types.hpp>

namespace apart {

/// Eigenvalues of a symmetric matrix, ascending, and orthonormal eigenvectors, one in each column.
struct PrincipalAxes {
  Vector3 values;
  Matrix3 axes;
};

/// Reads the lower triangle. Eigen's solver, compiled here once and not in every file that needs it.
PrincipalAxes principal_axes(const Matrix3& symmetric);

}  // namespace apart
