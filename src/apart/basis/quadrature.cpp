#include <apart/basis/quadrature.hpp>
#include <apart/core/error.hpp>

#include <basix/quadrature.h>
#include <fmt/format.h>
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

}  // namespace

Quadrature tetrahedron_quadrature(int degree) {
  return rule_of(basix::cell::type::tetrahedron, 3, degree);
}

Quadrature triangle_quadrature(int degree) {
  return rule_of(basix::cell::type::triangle, 2, degree);
}

}  // namespace apart
