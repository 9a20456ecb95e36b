#pragma once
// The points of a stencil as columns of a matrix, and back.
#include <apart/geometry/squared_distance.hpp>

namespace apart::test {

inline Matrix3X as_matrix(const StencilPoints& x, int n) {
  Matrix3X y(3, n);
  for (int i = 0; i < n; ++i) y.col(i) = x[i];
  return y;
}
inline StencilPoints stencil_points(const Matrix3X& y) {
  StencilPoints x;
  for (Index i = 0; i < y.cols(); ++i) x[i] = y.col(i);
  return x;
}

}  // namespace apart::test
