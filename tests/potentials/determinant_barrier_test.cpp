// The barrier on the Bernstein coefficients of the determinant of curved cells.
#include <apart/potentials/determinant_barrier.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <Eigen/LU>

#include <cmath>
#include <limits>
#include <random>

namespace apart::test {
namespace {

/// A cell whose nodes are slightly displaced at rest, and pressed so that a corner is nearly flat.
struct PressedCell {
  PressedCell(int p, int n) : barrier(p, n), bound(n) {
    std::mt19937 engine(unsigned(10 * p + n));
    std::normal_distribution<double> normal(0, 5e-4);
    const LagrangeTetrahedron lattice(n), displacement(p);
    rest = lattice.nodes().unaryExpr([&](double x) { return x + normal(engine); });
    nodes = displacement.nodes();
    values.resize(nodes.cols(), rest.cols());
    for (Index b = 0; b < rest.cols(); ++b) values.col(b) = displacement.values(lattice.nodes().col(b));
    if (n > p)
      offset = rest - nodes * values;
    else
      nodes = rest;
    // ξ₀ → s ξ₀ + (1 − s) ξ₀²: its slope is s where ξ₀ = 0. Degree one has no such map: all is flattened.
    for (Index a = 0; a < nodes.cols(); ++a) {
      const double x = nodes(0, a);
      nodes(0, a) = p == 1 ? 0.06 * x : 0.06 * x + 0.94 * x * x;
    }
  }
  Matrix3X placed(const Matrix3X& q) const {
    Matrix3X x = q * values;
    if (offset.cols() > 0) x += offset;
    return x;
  }
  double smallest_ratio(const Matrix3X& q) const {
    const Vector3 xi = bound.smallest(placed(q), 1e-4).xi;
    const Matrix3X gradients = LagrangeTetrahedron(bound.degree()).gradients(xi);
    return Matrix3(placed(q) * gradients.transpose()).determinant() /
           Matrix3(rest * gradients.transpose()).determinant();
  }
  DeterminantBarrier barrier;
  JacobianBound bound;
  Matrix3X rest, offset, nodes;
  Eigen::MatrixXd values;
};

template <class Test>
void for_each_pressed_cell(const Test& test) {
  for (int p = 1; p <= largest_degree; ++p)
    for (int n = std::max(p, 2); n <= largest_degree; ++n) {
      SCOPED_TRACE(fmt::format("degree {} on a lattice of degree {}", p, n));
      test(PressedCell(p, n));
    }
}

constexpr double reach = 0.12, stiffness = 2.5;

DeterminantBarrier::Resistance resistance(const PressedCell& cell, const DeterminantBarrier::Parts& parts) {
  return cell.barrier.resistance({cell.rest, cell.offset}, parts, reach, stiffness);
}

DeterminantBarrier::Parts parts(const PressedCell& cell, const Matrix3X& q,
                                const DeterminantBarrier::Parts& kept = {}) {
  return cell.barrier.parts({cell.rest, cell.offset}, cell.placed(q), reach, cell.smallest_ratio(q), kept);
}

TEST(DeterminantBarrier, HasTheDerivativesOfItsValue) {
  for_each_pressed_cell([](const PressedCell& cell) {
    const auto r = resistance(cell, parts(cell, cell.nodes));
    DeterminantBarrier::Room room;
    const double value = cell.barrier.value(r, cell.nodes, room);
    ASSERT_GT(value, 0);
    ASSERT_LT(value, std::numeric_limits<double>::infinity());
    const VectorX gradient = cell.barrier.gradient(r, cell.nodes, room).reshaped();
    const Eigen::MatrixXd hessian = cell.barrier.hessian(r, cell.nodes, room);
    EXPECT_LT((hessian - hessian.transpose()).norm(), 1e-12 * hessian.norm());
    const double h = 1e-6;
    VectorX difference(gradient.size());
    Eigen::MatrixXd differences(gradient.size(), gradient.size());
    for (Index i = 0; i < gradient.size(); ++i) {
      Matrix3X more = cell.nodes, less = cell.nodes;
      more.reshaped()[i] += h, less.reshaped()[i] -= h;
      difference[i] = (cell.barrier.value(r, more, room) - cell.barrier.value(r, less, room)) / (2 * h);
      const Matrix3X change = cell.barrier.gradient(r, more, room) - cell.barrier.gradient(r, less, room);
      differences.col(i) = change.reshaped() / (2 * h);
    }
    EXPECT_LT((difference - gradient).norm(), 1e-6 * gradient.norm());
    EXPECT_LT((differences - hessian).norm(), 1e-6 * hessian.norm());
    // It does not change when the cell moves or turns: no force, no torque.
    const Matrix3X forces = gradient.reshaped(3, cell.nodes.cols());
    EXPECT_LT(forces.rowwise().sum().norm(), 1e-12 * gradient.norm());
    if (cell.offset.cols() > 0) return;  // what is left behind does not turn along
    Vector3 torque = Vector3::Zero();
    for (Index a = 0; a < cell.nodes.cols(); ++a)
      torque += cell.nodes.col(a).cross(forces.col(a)).transpose();
    EXPECT_LT(torque.norm(), 1e-11 * gradient.norm());
  });
}

TEST(DeterminantBarrier, IsZeroWhereNothingIsNearlyInvertedAndInfiniteWhereSomethingIs) {
  for_each_pressed_cell([](const PressedCell& cell) {
    const auto r = resistance(cell, parts(cell, cell.nodes));
    DeterminantBarrier::Room room;
    Matrix3X q = cell.nodes;
    if (cell.offset.cols() == 0) {
      EXPECT_EQ(cell.barrier.value(r, cell.rest, room), 0);
      EXPECT_EQ(cell.barrier.gradient(r, cell.rest, room).norm(), 0);
      EXPECT_EQ(cell.barrier.hessian(r, cell.rest, room).norm(), 0);
      // All of it at a volume ratio just above the reach, and below.
      EXPECT_EQ(cell.barrier.value(r, std::cbrt(1.0001 * reach) * cell.rest, room), 0);
      EXPECT_GT(cell.barrier.value(r, std::cbrt(0.99 * reach) * cell.rest, room), 0);
    }
    q.row(0) *= -1;
    EXPECT_EQ(cell.barrier.value(r, q, room), std::numeric_limits<double>::infinity());
    // Valid only if nothing is added twice.
    EXPECT_EQ(parts(cell, cell.rest.cols() == q.cols() ? cell.rest : cell.nodes, {}).empty(),
              cell.offset.cols() == 0);
  });
}

// However small the determinant is somewhere on an edge: if it is proven to be positive, it is resisted
// there.
TEST(DeterminantBarrier, LeavesOutNoPlaceOfACellThatIsNearlyFlat) {
  for (int degree = 2; degree <= largest_degree; ++degree)
    for (const double smallest : {1e-2, 1e-3, 1e-4, 1e-5}) {
      SCOPED_TRACE(fmt::format("degree {}, smallest ratio {:g}", degree, smallest));
      const DeterminantBarrier barrier(degree, degree);
      const JacobianBound bound(degree);
      const Matrix3X rest = LagrangeTetrahedron(degree).nodes();
      // (z − z₀)² / 2 with z = x + iy and z₀ beside the edge y = 0: the determinant is |z − z₀|².
      const auto pressed = [&](double ratio) {
        Matrix3X q = rest;
        for (Index a = 0; a < q.cols(); ++a) {
          const double x = rest(0, a) - 0.3, y = rest(1, a) + std::sqrt(ratio);
          q.col(a) << (x * x - y * y) / 2, x * y, rest(2, a);
        }
        return q;
      };
      const Matrix3X q = pressed(smallest);
      ASSERT_TRUE(bound.is_positive(q, q));
      const DeterminantBarrier::Shape shape{rest, Matrix3X()};
      const auto r = barrier.resistance(shape, barrier.parts(shape, q, reach, smallest, {}), reach, 1);
      DeterminantBarrier::Room room;
      const double found = barrier.smallest_ratio(r, q, room);
      EXPECT_GT(found, 0);
      EXPECT_LE(found, 1.1 * smallest);
      EXPECT_GT(barrier.value(r, pressed(0.5 * smallest), room), barrier.value(r, q, room));
      EXPECT_TRUE(std::isfinite(barrier.value(r, q, room)));
    }
}

TEST(DeterminantBarrier, HasCoefficientsCloseToTheDeterminantAndKeepsItsParts) {
  for_each_pressed_cell([](const PressedCell& cell) {
    const auto chosen = parts(cell, cell.nodes);
    ASSERT_FALSE(chosen.empty());
    const auto r = resistance(cell, chosen);
    DeterminantBarrier::Room room;
    const double smallest = cell.smallest_ratio(cell.nodes),
                 found = cell.barrier.smallest_ratio(r, cell.nodes, room);
    EXPECT_GE(found, 0.49 * smallest);
    EXPECT_LE(found, 1.1 * smallest);
    EXPECT_EQ(parts(cell, cell.nodes, chosen), chosen);
    // Where nothing is pressed, parts that are there stay.
    if (cell.offset.cols() == 0) {
      EXPECT_EQ(parts(cell, cell.rest, chosen), chosen);
    }
  });
}

}  // namespace
}  // namespace apart::test
