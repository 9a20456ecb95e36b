#include <apart/basis/jacobian_bound.hpp>
#include <apart/basis/quadrature.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <Eigen/LU>

#include <random>

namespace apart::test {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double normal() { return normal_(engine_); }
  double uniform() { return uniform_(engine_); }
  /// Inside the reference tetrahedron, its boundary included more often than chance would.
  Vector3 inside() {
    Eigen::Vector4d lambda;
    for (double& l : lambda) l = uniform() < 0.2 ? 0 : -std::log(uniform() + 1e-12);
    if (lambda.sum() == 0) lambda[0] = 1;
    return lambda.tail<3>() / lambda.sum();
  }
  Matrix3X nodes(int degree, double bend) {
    Matrix3X x = LagrangeTetrahedron(degree).nodes();
    return x +
           bend * Matrix3X::NullaryExpr(3, x.cols(), [&](Eigen::Index, Eigen::Index) { return normal(); });
  }

 private:
  std::mt19937 engine_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_{0, 1};
};

double determinant(int degree, const Matrix3X& nodes, const Vector3& xi) {
  return Matrix3(nodes * LagrangeTetrahedron(degree).gradients(xi).transpose()).determinant();
}

double value(const BernsteinTetrahedron& basis, const VectorX& coefficients, const Vector3& xi) {
  const double lambda[4] = {1 - xi.sum(), xi[0], xi[1], xi[2]};
  double sum = 0;
  for (Index i = 0; i < basis.size(); ++i) {
    const LatticePoint& g = basis.lattice()[std::size_t(i)];
    double term = coefficients[i] * BernsteinTetrahedron::multinomial(g);
    for (std::size_t j = 0; j < 4; ++j) term *= std::pow(lambda[j], g[j]);
    sum += term;
  }
  return sum;
}

TEST(Bernstein, HalvesAreTheSamePolynomial) {
  Random random(1);
  for (const int degree : {1, 3, 6, 9}) {
    const BernsteinTetrahedron basis(degree);
    const VectorX whole = VectorX::NullaryExpr(basis.size(), [&](Eigen::Index) { return random.normal(); });
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) {
        if (a == b) continue;
        Eigen::MatrixXd first = whole.transpose();
        const Eigen::MatrixXd second = basis.bisect(first, a, b);
        Eigen::Matrix<double, 3, 4> corners;
        corners << 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1;
        const Vector3 middle = 0.5 * (corners.col(a) + corners.col(b));
        for (int trial = 0; trial < 5; ++trial) {
          const Vector3 xi = random.inside();
          const Vector4 lambda(1 - xi.sum(), xi[0], xi[1], xi[2]);
          Eigen::Matrix<double, 3, 4> at = corners;
          at.col(b) = middle;
          EXPECT_NEAR(value(basis, first.row(0), xi), value(basis, whole, at * lambda), 1e-12);
          at = corners;
          at.col(a) = middle;
          EXPECT_NEAR(value(basis, second.row(0), xi), value(basis, whole, at * lambda), 1e-12);
        }
      }
  }
}

TEST(JacobianBound, HasTheCoefficientsOfTheDeterminant) {
  Random random(2);
  for (int degree = 1; degree <= largest_degree; ++degree) {
    const JacobianBound bound(degree);
    EXPECT_EQ(bound.determinant_basis().size(), tetrahedron_lattice_size(3 * (degree - 1)));
    const Matrix3X nodes = random.nodes(degree, 0.1).colwise() + Vector3(10, -20, 30);
    const VectorX c = bound.coefficients(nodes);
    for (int trial = 0; trial < 100; ++trial) {
      const Vector3 xi = random.inside();
      EXPECT_NEAR(value(bound.determinant_basis(), c, xi), determinant(degree, nodes, xi), 1e-11);
    }
  }
}

TEST(JacobianBound, OfAStraightTetrahedronIsItsVolume) {
  Random random(3);
  for (int degree = 1; degree <= largest_degree; ++degree) {
    Matrix3 f = Matrix3::NullaryExpr([&] { return random.normal(); });
    if (f.determinant() < 0) f = -f;
    const Matrix3X nodes = f * LagrangeTetrahedron(degree).nodes();
    const JacobianBound bound(degree);
    const VectorX c = bound.coefficients(nodes);
    EXPECT_LT((c.array() - f.determinant()).abs().maxCoeff(), 1e-12);
    EXPECT_TRUE(bound.is_positive(nodes, nodes));
    EXPECT_FALSE(bound.is_positive(-nodes, -nodes));
  }
}

TEST(JacobianBound, FindsTheSmallestDeterminant) {
  Random random(4);
  for (int degree = 2; degree <= largest_degree; ++degree)
    for (const double bend : {0.01, 0.03, 0.1}) {
      const Matrix3X nodes = random.nodes(degree, bend);
      const JacobianBound bound(degree);
      const auto smallest = bound.smallest(nodes);
      EXPECT_NEAR(determinant(degree, nodes, smallest.xi), smallest.value, 1e-11);
      double sampled = infinity;
      for (int i = 0; i < 3000; ++i) sampled = std::min(sampled, determinant(degree, nodes, random.inside()));
      EXPECT_LE(smallest.bound, sampled);
      EXPECT_LE(smallest.bound, smallest.value);
      EXPECT_EQ(bound.is_positive(nodes, nodes), smallest.bound > 0) << degree << " " << bend;
    }
}

// A bump that points inwards between the quadrature points: what looks at those alone accepts it.
TEST(JacobianBound, SeesWhatQuadraturePointsDoNot) {
  for (int degree = 2; degree <= largest_degree; ++degree) {
    const LagrangeTetrahedron shape(degree);
    const JacobianBound bound(degree);
    const Quadrature rule = tetrahedron_quadrature(2 * (degree - 1));
    bool planted = false;
    for (Index node = 4; node < shape.node_count() && !planted; ++node)
      for (double push = 0.02; push < 0.6 && !planted; push += 0.02) {
        Matrix3X nodes = shape.nodes();
        nodes.col(node) += push * (Vector3::Constant(0.25) - nodes.col(node)).normalized();
        double at_points = infinity;
        for (Index k = 0; k < rule.size(); ++k)
          at_points = std::min(at_points, determinant(degree, nodes, rule.points.col(k)));
        const auto smallest = bound.smallest(nodes);
        if (at_points <= 0 || smallest.value >= -1e-3) continue;
        planted = true;
        EXPECT_LT(determinant(degree, nodes, smallest.xi), 0);
        EXPECT_FALSE(bound.is_positive(nodes, nodes));
      }
    EXPECT_TRUE(planted) << "degree " << degree;
  }
}

TEST(JacobianBound, StepsKeepTheirShareEverywhereAndGoFar) {
  Random random(5);
  constexpr double shrink = 0.8;
  int cut = 0;
  for (int degree = 1; degree <= largest_degree; ++degree) {
    const JacobianBound bound(degree);
    for (int trial = 0; trial < 15; ++trial) {
      const Matrix3X nodes = random.nodes(degree, 0.01 / (degree * degree));
      const Matrix3X motion = random.nodes(degree, 0.4) - nodes;
      const double step = bound.feasible_step(nodes, nodes + motion, shrink);
      ASSERT_GT(step, 0);
      const auto share = [&](const Vector3& xi, double t) {
        return determinant(degree, nodes + t * motion, xi) / determinant(degree, nodes, xi);
      };
      double nearest = infinity, beyond = infinity;
      for (int i = 0; i < 2000; ++i) {
        const Vector3 xi = random.inside();
        nearest = std::min(nearest, share(xi, step * random.uniform()));
        beyond = std::min(beyond, share(xi, std::min(1.0, 1.1 * step)));
      }
      EXPECT_GE(nearest, 1 - shrink - 1e-9);
      if (step == 1) continue;
      // A step a tenth longer goes too far somewhere: samples come near to it.
      ++cut;
      EXPECT_LT(beyond, 1 - shrink + 0.1) << "degree " << degree << ", step " << step;
    }
  }
  EXPECT_GT(cut, 20);
}

// Newton steps may be many times as long as a cell, of which only a small share can be taken.
TEST(JacobianBound, StepsOfAWayThatLeadsFarGoAsFar) {
  Random random(8);
  constexpr double longer = 1000;
  int cut = 0;
  for (int degree = 1; degree <= largest_degree; ++degree) {
    const JacobianBound bound(degree);
    for (int trial = 0; trial < 10; ++trial) {
      Matrix3X nodes = random.nodes(degree, 0.01 / (degree * degree));
      Matrix3X motion = random.nodes(degree, 0.4) - nodes;
      for (Matrix3X* x : {&nodes, &motion}) x->row(0) *= 1e-2;  // thin: its determinant is small
      const double step = bound.feasible_step(nodes, nodes + motion),
                   far = longer * bound.feasible_step(nodes, nodes + longer * motion);
      ASSERT_GT(step, 0);
      if (step == 1) continue;
      ++cut;
      EXPECT_NEAR(far, step, 0.01 * step) << "degree " << degree;
    }
  }
  EXPECT_GT(cut, 20);
}

// What rounding does must not be taken for more than it is: steps that nearly flat cells resist would shrink
// to nothing, although the determinant does not.
TEST(JacobianBound, StepsOfNearlyFlatCellsFarFromTheOriginAreNotCutByRounding) {
  for (int degree = 2; degree <= largest_degree; ++degree)
    for (const double smallest : {1e-3, 1e-4}) {
      SCOPED_TRACE(testing::Message() << "degree " << degree << ", smallest determinant " << smallest);
      const JacobianBound bound(degree);
      // (z − z₀)² / 2 with z = x + iy and z₀ beside the edge y = 0: the determinant is |z − z₀|².
      const auto pressed = [&](double determinant) {
        Matrix3X q = LagrangeTetrahedron(degree).nodes();
        for (auto node : q.colwise()) {
          const double x = node[0] - 0.3, y = node[1] + std::sqrt(determinant);
          node = Vector3((x * x - y * y) / 2 + 2000, x * y + 1000, node[2] - 3000);
        }
        return q;
      };
      const double step = bound.feasible_step(pressed(smallest), pressed(0));
      EXPECT_GT(step, 0.3);  // where the determinant is half of what it was
      EXPECT_LT(step, 1 - std::sqrt(0.2) + 1e-6);
    }
}

TEST(JacobianBound, TellsWhetherTheDeterminantIsAboveAnotherPolynomial) {
  Random random(6);
  for (int degree = 1; degree <= largest_degree; ++degree) {
    const JacobianBound bound(degree);
    const Matrix3X nodes = random.nodes(degree, 0.01);
    ASSERT_TRUE(bound.is_positive(nodes, nodes));
    const VectorX c = bound.coefficients(nodes);
    EXPECT_TRUE(bound.is_positive(VectorX(0.1 * c)));
    EXPECT_FALSE(bound.is_positive(VectorX(-0.1 * c)));
    // Equal at one corner, below elsewhere.
    VectorX touching = 0.5 * c;
    touching[0] = c[0];
    EXPECT_FALSE(bound.is_positive(VectorX(c - touching)));
  }
}

// The extent of a state tells of states nearby what the coefficients would: never more, and mostly as much.
TEST(JacobianBound, MovesThatTheExtentAllowsAreFeasibleAlsoNearlyInverted) {
  Random random(9);
  for (int degree = 1; degree <= largest_degree; ++degree)
    for (int lower = 1; lower <= degree; ++lower) {
      SCOPED_TRACE(testing::Message() << "displacements of degree " << lower << " on " << degree);
      const JacobianBound bound(degree), of_displacements(lower);
      const LagrangeTetrahedron displacement(lower), shape(degree);
      Eigen::MatrixXd values(displacement.node_count(), shape.node_count());
      for (Index b = 0; b < shape.node_count(); ++b)
        values.col(b) = displacement.values(shape.nodes().col(b));
      int allowed = 0, feasible = 0;
      for (int trial = 0; trial < 300; ++trial) {
        Matrix3X nodes = random.nodes(degree, 0.01 / (degree * degree));
        // From well shaped to nearly flat, and far from the origin.
        nodes.row(0) *= std::pow(10, -3 * random.uniform());
        if (trial % 3 == 0) nodes.colwise() += Vector3(1e3, -2e3, 500);
        const VectorX c = bound.coefficients(nodes);
        const JacobianBound::Extent extent = bound.extent(nodes);
        const double size = std::pow(10, -4.5 * random.uniform());
        const auto moved = [&] { return Matrix3X(size * (random.nodes(lower, 0.5) - displacement.nodes())); };
        const Matrix3X from = moved(), to = moved(), begin = nodes + from * values, end = nodes + to * values;
        const double change = JacobianBound::largest_change(extent, of_displacements.larger(from, to));
        // No coefficient changes by more.
        for (const Matrix3X& x : {begin, end, Matrix3X(0.3 * begin + 0.7 * end)}) {
          ASSERT_LE((bound.coefficients(x) - c).cwiseAbs().maxCoeff(), change);
        }
        const bool whole = bound.feasible_step(begin, end) == 1;
        feasible += whole;
        if (!JacobianBound::is_feasible(c.minCoeff(), change)) continue;
        ++allowed;
        ASSERT_TRUE(whole);
        ASSERT_TRUE(bound.is_positive(begin, end));
      }
      EXPECT_GT(allowed, 30);
      EXPECT_GT(feasible - allowed, 10);  // the others need their coefficients
      EXPECT_LT(feasible, 290);
    }
}

TEST(JacobianBound, TheExtentSaysNothingOfStatesThatAreTooFar) {
  const JacobianBound bound(2);
  const Matrix3X nodes = LagrangeTetrahedron(2).nodes(), still = Matrix3X::Zero(3, nodes.cols());
  const JacobianBound::Extent extent = bound.extent(nodes);
  const auto change = [&](const Matrix3X& to) {
    return JacobianBound::largest_change(extent, bound.larger(still, to));
  };
  EXPECT_LT(change(still), 1e-9);
  EXPECT_LT(change(Matrix3X::Constant(3, nodes.cols(), 0.9)), 1e-9);  // without a change of shape
  EXPECT_EQ(change(Matrix3X::Constant(3, nodes.cols(), 1.1)), infinity);
  EXPECT_EQ(change(0.8 * nodes), infinity);
  Matrix3X bad = still;
  bad(1, 5) = std::nan("");
  EXPECT_EQ(change(bad), infinity);
}

// Far from the origin positions are rounded coarsely, and states on a path are not quite on it.
TEST(JacobianBound, StepsLeadToRoundedStatesThatAreValid) {
  Random random(7);
  for (int degree = 1; degree <= largest_degree; ++degree) {
    const JacobianBound bound(degree);
    for (int trial = 0; trial < 10; ++trial) {
      const Matrix3X nodes =
          random.nodes(degree, 0.01 / (degree * degree)).colwise() + Vector3(1e4, -2e4, 5e3);
      const Matrix3X motion = (random.nodes(degree, 0.4).colwise() + Vector3(1e4, -2e4, 5e3)) - nodes;
      const double step = bound.feasible_step(nodes, nodes + motion);
      ASSERT_GT(step, 0);
      for (const double share : {1.0, 0.7, 0.3}) {
        const Matrix3X there = nodes + share * step * motion;
        EXPECT_TRUE(bound.is_positive(nodes, there)) << degree;
      }
    }
  }
}

TEST(JacobianBound, ProvesAPathThatTurnsAndRefusesOneThatPassesThroughItself) {
  for (int degree = 1; degree <= largest_degree; ++degree) {
    const JacobianBound bound(degree);
    const Matrix3X nodes = LagrangeTetrahedron(degree).nodes();
    const Matrix3 turn = Eigen::AngleAxisd(1.5, Vector3(1, 2, 3).normalized()).toRotationMatrix();
    EXPECT_TRUE(bound.is_positive(nodes, turn * nodes));
    // Half a turn: positive at both ends, flat in the middle.
    const Matrix3 half = Eigen::AngleAxisd(3.14159265358979323846, Vector3::UnitX()).toRotationMatrix();
    EXPECT_FALSE(bound.is_positive(nodes, half * nodes));
    EXPECT_LT(bound.feasible_step(nodes, half * nodes), 0.5);
  }
}

TEST(JacobianBound, RefusesNumbersThatAreNone) {
  const JacobianBound bound(2);
  const Matrix3X nodes = LagrangeTetrahedron(2).nodes();
  Matrix3X bad = nodes;
  bad(1, 5) = std::nan("");
  EXPECT_FALSE(bound.is_positive(bad, bad));
  EXPECT_EQ(bound.feasible_step(nodes, bad), 0);
  EXPECT_EQ(bound.feasible_step(bad, nodes), 0);
}

}  // namespace
}  // namespace apart::test
