#include <apart/basis/quadrature.hpp>
#include <apart/core/error.hpp>

#include <basix/quadrature.h>
#include <fmt/format.h>
#include <Eigen/LU>
#include <algorithm>

namespace apart {

namespace {

constexpr int last_published_degree = 15;  // of the rules of Xiao and Gimbutas in basix

Quadrature rule_of(basix::cell::type cell, int dimension, int degree) {
  if (degree < 0 || degree > largest_quadrature_degree)
    throw InvariantError(
        fmt::format("quadrature: degree {}, must lie in 0 … {}", degree, largest_quadrature_degree));
  // basix's own choice has negative weights for some degrees (tetrahedra: 3 and 7).
  const auto type = degree <= last_published_degree ? basix::quadrature::type::xiao_gimbutas
                                                    : basix::quadrature::type::gauss_jacobi;
  const auto [points, weights] = basix::quadrature::make_quadrature(type, cell, std::max(degree, 1));
  Quadrature rule;
  rule.weights = Eigen::Map<const VectorX>(weights.data(), Eigen::Index(weights.size()));
  rule.points = Eigen::Map<const Eigen::MatrixXd>(points.data(), dimension, Eigen::Index(weights.size()));
  if (rule.weights.minCoeff() <= 0)
    throw InvariantError(
        fmt::format("quadrature: the rule of degree {} has a weight that is not positive", degree));
  return rule;
}

/// One of the eight tetrahedra that the reference tetrahedron is cut into, 0 to 7.
struct RefinedPart {
  explicit RefinedPart(Index k) {
    // Corners 0 to 3 and middles 4 to 9 of the edges 01, 02, 03, 12, 13, 23; the octahedron that the corners
    // leave is cut along 5–8.
    Eigen::Matrix<double, 3, 10> x;
    x << 0, 1, 0, 0, 0.5, 0, 0, 0.5, 0.5, 0,  //
        0, 0, 1, 0, 0, 0.5, 0, 0.5, 0, 0.5,   //
        0, 0, 0, 1, 0, 0, 0.5, 0, 0.5, 0.5;
    constexpr int parts[8][4] = {{0, 4, 5, 6}, {4, 1, 7, 8}, {5, 7, 2, 9}, {6, 8, 9, 3},
                                 {5, 8, 4, 6}, {5, 8, 6, 9}, {5, 8, 9, 7}, {5, 8, 7, 4}};
    corner = x.col(parts[k][0]);
    for (int c = 0; c < 3; ++c) edges.col(c) = x.col(parts[k][c + 1]) - corner;
  }
  Vector3 corner;
  Matrix3 edges;
};

}  // namespace

Quadrature tetrahedron_quadrature(int degree) {
  return rule_of(basix::cell::type::tetrahedron, 3, degree);
}

Quadrature refined(const Quadrature& rule) {
  const Index n = rule.size();
  Quadrature result{Eigen::MatrixXd(3, 8 * n), VectorX(8 * n)};
  for (Index k = 0; k < 8; ++k) {
    const RefinedPart part(k);
    result.points.middleCols(k * n, n) = (part.edges * rule.points).colwise() + part.corner;
    result.weights.segment(k * n, n) = rule.weights / 8;
  }
  return result;
}

Index refined_part(const Vector3& xi) {
  Index result = 0;
  double deepest = -infinity;
  for (Index k = 0; k < 8; ++k) {
    const RefinedPart part(k);
    const Vector3 lambda = part.edges.inverse() * (xi - part.corner);
    const double depth = std::min(lambda.minCoeff(), 1 - lambda.sum());
    if (depth > deepest + 1e-12) deepest = depth, result = k;
  }
  return result;
}

Quadrature triangle_quadrature(int degree) {
  return rule_of(basix::cell::type::triangle, 2, degree);
}

}  // namespace apart
