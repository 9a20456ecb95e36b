// The contract of charts, proven with a body of the test's own: whatever keeps it needs no change in the
// solver.
#include <apart/bodies/chart.hpp>
#include <apart/bodies/linear_map.hpp>
#include <apart/collision/broad_phase.hpp>
#include <apart/potentials/barrier_contact.hpp>
#include <apart/potentials/script_target.hpp>
#include <apart/solver/newton.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <cmath>
#include <numbers>
#include <random>

namespace apart::test {
namespace {

/// Two nodes on the ends of a stiff bar, free to turn about the origin: y is the turn, as a vector.
class TurningBar final : public BodyChart {
 public:
  Index node_count() const override { return 2; }
  Index unknown_count() const override { return 1; }
  BodyColumns retract(const BodyColumns& q, const BodyColumns& y) const override {
    const Vector3 turn = y.col(0);
    const double angle = turn.norm();
    return angle == 0 ? q : BodyColumns(Eigen::AngleAxisd(angle, turn / angle).toRotationMatrix() * q);
  }
  Matrix3 slope(const BodyColumns& q, Index node, Index) const override { return -cross(q.col(node)); }
  Eigen::MatrixXd curvature(const BodyColumns& q, const BodyColumns& g) const override {
    Matrix3 sum = Matrix3::Zero();
    for (Index k = 0; k < 2; ++k) {
      const Vector3 r = q.col(k), f = g.col(k);
      sum += 0.5 * (f * r.transpose() + r * f.transpose()) - f.dot(r) * Matrix3::Identity();
    }
    return sum;
  }
  BodyColumns bend(const BodyColumns& q, const BodyColumns& y) const override {
    return cross(y.col(0)) * cross(y.col(0)) * q;
  }
  double turn(const BodyColumns& y) const override { return y.col(0).norm(); }

 private:
  static Matrix3 cross(const Vector3& a) {
    Matrix3 m;
    m << 0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0;
    return m;
  }
};

Matrix3X random(Index n, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  return Matrix3X::NullaryExpr(3, n, [&](Eigen::Index, Eigen::Index) { return normal(engine); });
}

/// Node, bar of two nodes, node.
Chart chart_with_a_bar() {
  Chart chart(4);
  chart.add(1, std::make_shared<TurningBar>());
  return chart;
}

TEST(Chart, UnknownsOfBodiesWithoutAChartAreTheirNodes) {
  const Chart chart = chart_with_a_bar();
  EXPECT_EQ(chart.unknown_count(), 3);
  EXPECT_EQ(chart.unknown_of(0), 0);
  EXPECT_EQ(chart.unknown_of(1), 1);
  EXPECT_EQ(chart.unknown_of(2), 1);
  EXPECT_EQ(chart.unknown_of(3), 2);
  const Matrix3X q = random(4, 1), y = random(3, 2), moved = chart.retract(q, y);
  EXPECT_EQ(moved.col(0), q.col(0) + y.col(0));
  EXPECT_EQ(moved.col(3), q.col(3) + y.col(2));
  Chart::Mask free = Chart::Mask::Constant(3, 4, true);
  free(1, 0) = free(0, 1) = false;
  const Chart::Mask unknowns = chart.free_unknowns(free);
  EXPECT_FALSE(unknowns(1, 0));
  EXPECT_TRUE(unknowns.col(1).all()) << "held only when all nodes are";
  free.middleCols(1, 2) = false;
  EXPECT_FALSE(chart.free_unknowns(free).col(1).any());
}

TEST(Chart, DerivativesAreThoseOfTheRetraction) {
  const Chart chart = chart_with_a_bar();
  const double e = 1e-5;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Matrix3X q = random(4, seed), y = random(3, seed + 100), g = random(4, seed + 200);
    const Matrix3X pushed = chart.push_forward(q, y);
    const Matrix3X change = (chart.retract(q, e * y) - chart.retract(q, -e * y)) / (2 * e);
    EXPECT_LT((change - pushed).norm(), 1e-8 * pushed.norm());
    const double left = pushed.cwiseProduct(g).sum(), right = y.cwiseProduct(chart.pull_back(q, g)).sum();
    EXPECT_NEAR(left, right, 1e-12 * (1 + std::abs(left)));
    const Chart::Part& bar = chart.parts()[0];
    const double second =
        g.cwiseProduct(chart.retract(q, e * y) - 2 * q + chart.retract(q, -e * y)).sum() / (e * e);
    const Eigen::MatrixXd curvature = bar.chart->curvature(bar.nodes(q), bar.nodes(g));
    EXPECT_NEAR(y.col(1).dot(curvature * y.col(1)), second, 1e-4 * (1 + std::abs(second)));
  }
}

TEST(Chart, PathsStayNearTheirChords) {
  const Chart chart = chart_with_a_bar();
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Matrix3X q = random(4, seed), y = random(3, seed + 100);
    for (const double piece : {1.0, 0.3, 0.01})
      for (const double start : {0.0, 0.4}) {
        const Matrix3X from = chart.retract(q, start * y), to = chart.retract(q, (start + piece) * y);
        const Matrix3X bend = chart.bend(q, piece * y);
        const VectorX weights = random(4, seed).row(0);  // also of combinations of nodes
        for (int i = 0; i <= 20; ++i) {
          const double t = i / 20.0;
          const Matrix3X off = chart.retract(q, (start + t * piece) * y) - (1 - t) * from - t * to;
          EXPECT_TRUE((off.colwise().norm().array() <= bend.colwise().norm().array() / 8 + 1e-14).all());
          EXPECT_LE((off * weights).norm(), (bend * weights).norm() / 8 + 1e-14);
        }
      }
  }
}

/// Springs that pull the ends of the bar, and the nodes beside it, somewhere.
ScriptTarget springs() {
  ScriptTarget result;
  result.stiffness = 3;
  const Matrix3X goals = random(4, 7);
  for (Index n = 0; n < 4; ++n)
    result.targets.push_back({n, goals.col(n), Vector3::Ones(), 1.0 + n, Vector3::Zero()});
  return result;
}

TEST(Chart, TheObjectiveHasTheDerivativesOfItsValueInTheUnknowns) {
  const Chart chart = chart_with_a_bar();
  const LinearMap map = LinearMap::identity(4);
  ScriptTarget pull = springs();
  Objective objective(map, chart, {{&pull, Role::target}});
  objective.set_free(FreeCoordinates(Chart::Mask::Constant(3, 3, true)));
  const Matrix3X q = random(4, 3);
  const auto value = [&](const Matrix3X& y) {
    objective.prepare(objective.retract(q, y));
    return objective.value();
  };
  const double e = 1e-4;
  objective.prepare(q);
  const Matrix3X gradient = objective.reduced_gradient();
  const BlockSparse h = objective.hessian(Projection::none);
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Matrix3X y = random(3, seed);
    const double first = (value(e * y) - value(-e * y)) / (2 * e);
    EXPECT_NEAR(gradient.cwiseProduct(y).sum(), first, 1e-5 * (1 + std::abs(first)));
    const double second = (value(e * y) - 2 * value(0 * y) + value(-e * y)) / (e * e);
    const VectorX v = y.reshaped();
    EXPECT_NEAR(v.dot(h.multiply(v)), second, 1e-4 * (1 + std::abs(second)));
  }
}

TEST(Chart, NewtonFindsTheMinimumAndTheBarKeepsItsLength) {
  const Chart chart = chart_with_a_bar();
  const LinearMap map = LinearMap::identity(4);
  ScriptTarget pull = springs();
  Objective objective(map, chart, {{&pull, Role::target}});
  objective.set_free(FreeCoordinates(Chart::Mask::Constant(3, 3, true)));
  Matrix3X q = random(4, 3);
  const double length = (q.col(1) - q.col(2)).norm(), arm = q.col(1).norm();
  NewtonHooks hooks;
  hooks.accepted = [](const Matrix3X&) { return false; };
  hooks.stationary = [](const Matrix3X&) { return false; };
  const auto solver = make_linear_solver("cholesky");
  Timings timings;
  const NewtonResult result = newton(objective, {*solver, timings}, q, hooks, {.tolerance = 1e-10, .dt = 1});
  EXPECT_TRUE(result.converged) << result.failure;
  EXPECT_LT(result.iterations, 30);
  EXPECT_NEAR((q.col(1) - q.col(2)).norm(), length, 1e-12);
  EXPECT_NEAR(q.col(1).norm(), arm, 1e-12);
  EXPECT_LT((q.col(0) - pull.targets[0].position).norm(), 1e-9);
  objective.prepare(q);
  EXPECT_LT(objective.reduced_gradient().norm(), 1e-8);
}

/// A bar from the origin's side to (1, 0, 0) that turns about z, and a point in the plane.
struct Sweep {
  explicit Sweep(const Vector3& obstacle) {
    q.resize(3, 3);
    q << 0.2, 1, obstacle[0], 0, 0, obstacle[1], 0, 0, obstacle[2];
    chart.add(0, std::make_shared<TurningBar>());
    Edges bar(2, 1);
    bar << 0, 1;
    PairTable pairs(2);
    PairSettings settings;
    settings.dhat = 0.05;
    settings.enabled = true;
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b) pairs.set(a, b, settings);
    surface = CollisionSurface(q, Faces(3, 0), bar, {0, 0, 1}, pairs, {});
    cache = std::make_unique<CandidateCache>(make_broad_phase("bvh", surface), surface);
    contact = std::make_unique<BarrierContact>(surface, *cache);
    objective = std::make_unique<Objective>(
        map, chart, std::vector<Term>{{contact.get(), Role::contact, PointKind::vertices}});
    objective->set_free(FreeCoordinates(Chart::Mask::Constant(3, 2, true)));
  }
  StepBound turn(double angle) const {
    Matrix3X y = Matrix3X::Zero(3, 2);
    y(2, 0) = angle;
    return objective->feasible_step(q, y);
  }
  Matrix3X q;
  Chart chart{3};
  LinearMap map = LinearMap::identity(3);
  CollisionSurface surface;
  std::unique_ptr<CandidateCache> cache;
  std::unique_ptr<BarrierContact> contact;
  std::unique_ptr<Objective> objective;
};

TEST(Chart, ACurvedPathIsStoppedByWhatLiesOnItAndByNothingElse) {
  // Three quarters of a turn. At 1 rad, 0.9 m from the centre: on the arc, far from the chord.
  const double angle = 1.5 * std::numbers::pi;
  const Sweep hit({0.9 * std::cos(1.0), 0.9 * std::sin(1.0), 0});
  const double reached = hit.turn(angle).alpha * angle;
  EXPECT_LT(reached, 1.0);
  EXPECT_GT(reached, 0.9) << "and comes near";
  // On the chord of the bar's end, inside the hole that the bar's inner end leaves free.
  const Sweep passed({0.05, 0.05, 0});
  EXPECT_EQ(passed.turn(angle).alpha, 1);
  const Sweep outside({1.1, 0.3, 0});
  EXPECT_EQ(outside.turn(angle).alpha, 1);
}

TEST(Chart, ChordsBetweenTheCornersOfACurvedPathAreFree) {
  for (const double at : {0.5, 1.0, 2.0, 3.0}) {
    const Sweep sweep({0.7 * std::cos(at), 0.7 * std::sin(at), 0.01});
    const double angle = 4;
    const StepBound bound = sweep.turn(angle);
    std::vector<double> shares = {0};
    shares.insert(shares.end(), bound.corners.begin(), bound.corners.end());
    shares.push_back(bound.alpha);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    Matrix3X y = Matrix3X::Zero(3, 2);
    y(2, 0) = angle;
    const Vector3 obstacle = sweep.q.col(2);
    for (std::size_t k = 1; k < shares.size(); ++k) {
      const Matrix3X from = sweep.chart.retract(sweep.q, shares[k - 1] * y),
                     to = sweep.chart.retract(sweep.q, shares[k] * y);
      for (int i = 0; i <= 200; ++i) {
        const Matrix3X x = from + i / 200.0 * (to - from);
        const Vector3 along = x.col(1) - x.col(0);
        const double s = std::clamp((obstacle - x.col(0)).dot(along) / along.squaredNorm(), 0.0, 1.0);
        EXPECT_GT((x.col(0) + s * along - obstacle).norm(), 1e-3);
      }
    }
  }
}

}  // namespace
}  // namespace apart::test
