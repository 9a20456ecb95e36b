// The element concept, with an element of the test's own: ten nodes, four quadrature points.
#include <apart/potentials/element_elasticity_impl.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <support/potential_checks.hpp>

#include <random>

namespace apart::test {
namespace {

/// Straight-sided tetrahedron of degree 2: corners, then the middles of the edges 01, 02, 03, 12, 13, 23.
struct QuadraticTetrahedron {
  static constexpr int node_count = 10;
  std::array<Index, 10> nodes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  Index material = 0;
  double volume = 0;
  std::array<Eigen::Matrix<double, 3, 10>, 4> gradients;

  explicit QuadraticTetrahedron(const Matrix3X& rest) {
    Matrix3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = rest.col(k + 1) - rest.col(0);
    volume = edges.determinant() / 6;
    Eigen::Matrix<double, 3, 4> linear;  // ∇λ
    linear.rightCols<3>() = edges.inverse().transpose();
    linear.col(0) = -linear.rightCols<3>().rowwise().sum();
    const double a = 0.5854101966249685, b = 0.1381966011250105;  // exact for degree 2
    for (int k = 0; k < 4; ++k) {
      Eigen::Vector4d lambda = Eigen::Vector4d::Constant(b);
      lambda[k] = a;
      for (int c = 0; c < 4; ++c) gradients[std::size_t(k)].col(c) = (4 * lambda[c] - 1) * linear.col(c);
      int at = 4;
      for (int c = 0; c < 4; ++c)
        for (int d = c + 1; d < 4; ++d)
          gradients[std::size_t(k)].col(at++) = 4 * (lambda[c] * linear.col(d) + lambda[d] * linear.col(c));
    }
  }
  static constexpr int quadrature_count() { return 4; }
  double weight(int) const { return volume / 4; }
  const Eigen::Matrix<double, 3, 10>& shape_gradients(int k) const { return gradients[std::size_t(k)]; }
};

class QuadraticElasticity final : public ElementElasticity<QuadraticTetrahedron> {
 public:
  using ElementElasticity::add;
};

Matrix3X rest_nodes() {
  Matrix3X x(3, 10);
  x.leftCols<4>() << 0, 1, 0.2, 0.1, 0, 0.1, 0.9, 0.2, 0, -0.1, 0.1, 1.1;
  int at = 4;
  for (int c = 0; c < 4; ++c)
    for (int d = c + 1; d < 4; ++d) x.col(at++) = 0.5 * (x.col(c) + x.col(d));
  return x;
}

TEST(Element, OfTenNodesKeepsTheContractOfPotentials) {
  const Matrix3X rest = rest_nodes();
  for (const Material& material : {Material(NeoHookean{lame_parameters(1e3, 0.3)}),
                                   Material(LinearElasticity{lame_parameters(1e3, 0.3)})}) {
    QuadraticElasticity elasticity;
    const QuadraticTetrahedron e(rest);
    elasticity.add(std::span(&e, 1), std::span(&material, 1));
    std::mt19937 engine(1);
    std::normal_distribution<double> normal(0, 0.02);
    for (int trial = 0; trial < 5; ++trial) {
      const Matrix3X x =
          rest + Matrix3X::NullaryExpr(3, 10, [&](Eigen::Index, Eigen::Index) { return normal(engine); });
      expect_potential_contract(elasticity, x, fmt::format("material {}, trial {}", material.index(), trial),
                                {.nearest = false});
    }
  }
}

TEST(Element, OfTenNodesHasTheEnergyOfItsDeformation) {
  const Matrix3X rest = rest_nodes();
  const Material material = NeoHookean{lame_parameters(1e3, 0.3)};
  QuadraticElasticity elasticity;
  const QuadraticTetrahedron e(rest);
  elasticity.add(std::span(&e, 1), std::span(&material, 1));
  Matrix3 f;
  f << 1.1, 0.1, 0, -0.05, 0.95, 0.1, 0.02, 0, 1.05;
  const Matrix3X x = (f * rest).colwise() + Vector3(3, -2, 1);
  elasticity.prepare(x);
  const Vector3 sigma = signed_svd(f).sigma;
  for (int k = 0; k < 4; ++k) EXPECT_LT((elasticity.stretches(0, k) - sigma).norm(), 1e-12);
  EXPECT_NEAR(elasticity.value(x), e.volume * std::get<NeoHookean>(material).energy(sigma), 1e-12);
}

}  // namespace
}  // namespace apart::test
