#pragma once
// Central differences of functions of a 3 × n matrix of points, and how to compare them.
#include <apart/core/types.hpp>

#include <functional>

namespace apart::test {

/// ∂f/∂x by central differences of step `epsilon`.
inline Matrix3X difference_gradient(const std::function<double(const Matrix3X&)>& f, const Matrix3X& x,
                                    double epsilon) {
  Matrix3X g(3, x.cols());
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    Matrix3X a = x, b = x;
    a(k) += epsilon;
    b(k) -= epsilon;
    g(k) = (f(a) - f(b)) / (a(k) - b(k));
  }
  return g;
}

/// ∂g/∂x by central differences: column k is the derivative along coordinate k of the flattened gradient.
inline Eigen::MatrixXd difference_hessian(const std::function<Matrix3X(const Matrix3X&)>& g,
                                          const Matrix3X& x, double epsilon) {
  Eigen::MatrixXd h(x.size(), x.size());
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    Matrix3X a = x, b = x;
    a(k) += epsilon;
    b(k) -= epsilon;
    const Matrix3X d = (g(a) - g(b)) / (a(k) - b(k));
    h.col(k) = Eigen::Map<const VectorX>(d.data(), d.size());
  }
  return h;
}

/// ‖a − b‖ / max(‖a‖, ‖b‖, floor).
inline double relative_error(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double floor = 1e-300) {
  return (a - b).norm() / std::max({a.norm(), b.norm(), floor});
}

}  // namespace apart::test
