#include <apart/basis/lagrange_tetrahedron.hpp>

#include <basix/finite-element.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace apart::test {
namespace {

Vector3 random_place(std::mt19937& engine) {
  std::uniform_real_distribution<double> uniform(-0.3, 1.3);  // outside as well: polynomials go on there
  return {uniform(engine), uniform(engine), uniform(engine)};
}

TEST(LagrangeTetrahedron, IsOneAtItsOwnNodeAndZeroAtTheOthers) {
  for (int degree = 1; degree <= largest_degree; ++degree) {
    const LagrangeTetrahedron basis(degree);
    ASSERT_EQ(basis.node_count(), tetrahedron_lattice_size(degree));
    const Matrix3X nodes = basis.nodes();
    for (Index i = 0; i < basis.node_count(); ++i)
      EXPECT_LT((basis.values(nodes.col(i)) - VectorX::Unit(basis.node_count(), i)).cwiseAbs().maxCoeff(),
                1e-13);
  }
}

TEST(LagrangeTetrahedron, AgreesWithBasix) {
  std::mt19937 engine(1);
  for (int degree = 1; degree <= largest_degree; ++degree) {
    const LagrangeTetrahedron basis(degree);
    const auto oracle = basix::create_element(basix::element::family::P, basix::cell::type::tetrahedron,
                                              degree, basix::element::lagrange_variant::equispaced, false);
    // Functions of both are matched by the nodes at which they are one.
    const auto& [points, shape] = oracle.points();
    const Matrix3X nodes = basis.nodes();
    std::vector<Index> ours;
    for (std::size_t i = 0; i < shape[0]; ++i) {
      const Vector3 place = Eigen::Map<const Vector3>(points.data() + 3 * i);
      Index nearest;
      EXPECT_LT((nodes.colwise() - place).colwise().norm().minCoeff(&nearest), 1e-12);
      ours.push_back(nearest);
    }
    for (int trial = 0; trial < 20; ++trial) {
      const Vector3 xi = random_place(engine);
      const auto [table, size] = oracle.tabulate(1, std::span(xi.data(), 3), {1, 3});
      const VectorX values = basis.values(xi);
      const Matrix3X gradients = basis.gradients(xi);
      const std::size_t n = shape[0];
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(table[i], values[ours[i]], 1e-11);
        for (std::size_t k = 0; k < 3; ++k)
          EXPECT_NEAR(table[(k + 1) * n + i], gradients(Index(k), ours[i]), 1e-10);
      }
    }
  }
}

TEST(LagrangeTetrahedron, ReproducesPolynomialsOfItsDegree) {
  std::mt19937 engine(2);
  for (int degree = 1; degree <= largest_degree; ++degree) {
    const LagrangeTetrahedron basis(degree);
    for (int a = 0; a <= degree; ++a)
      for (int b = 0; a + b <= degree; ++b)
        for (int c = 0; a + b + c <= degree; ++c) {
          const auto f = [&](const Vector3& x) {
            return std::pow(x[0], a) * std::pow(x[1], b) * std::pow(x[2], c);
          };
          const Matrix3X nodes = basis.nodes();
          VectorX at_nodes(basis.node_count());
          for (Index i = 0; i < at_nodes.size(); ++i) at_nodes[i] = f(nodes.col(i));
          const Vector3 xi = random_place(engine);
          EXPECT_NEAR(basis.values(xi).dot(at_nodes), f(xi), 1e-11);
        }
  }
}

/// Numbers from the first to the last, downwards if the last is smaller.
void append_range(std::vector<Index>& list, Index first, Index last) {
  for (Index i = first; i != last; i += first < last ? 1 : -1) list.push_back(i);
  list.push_back(last);
}

// What ParaView shows of files with known nodes: the order of VTK 9 in numbers of Gmsh's.
TEST(LagrangeTetrahedron, HasTheNodeOrderOfVtk) {
  std::vector<Index> quadratic, cubic, quartic;
  append_range(quadratic, 0, 7);
  append_range(quadratic, 9, 8);
  EXPECT_EQ(vtk_node_order(2), quadratic);

  append_range(cubic, 0, 9);
  append_range(cubic, 11, 10);
  append_range(cubic, 15, 12);
  cubic.insert(cubic.end(), {17, 19, 18, 16});
  EXPECT_EQ(vtk_node_order(3), cubic);

  append_range(quartic, 0, 12);
  append_range(quartic, 15, 13);
  append_range(quartic, 21, 16);
  append_range(quartic, 25, 27);
  quartic.insert(quartic.end(), {33, 31, 32});
  append_range(quartic, 28, 30);
  append_range(quartic, 22, 24);
  quartic.push_back(34);
  EXPECT_EQ(vtk_node_order(4), quartic);
}

}  // namespace
}  // namespace apart::test
