// Coordinates and laws of joints: derivatives of every kind of coordinate under every law, and the laws'
// own promises.
#include <apart/potentials/joints.hpp>

#include <gtest/gtest.h>
#include <support/potential_checks.hpp>
#include <support/random.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <numbers>

namespace apart::test {
namespace {

constexpr Index joint_nodes_count = 8;

Matrix3X scattered(Random& random) {
  Matrix3X q(3, joint_nodes_count);
  for (Index n = 0; n < q.cols(); ++n) q.col(n) = random.vector();
  return q;
}

/// Weights on the first or second four nodes, which add up to `sum`.
NodeVector on_body(Random& random, int body, double sum) {
  NodeVector v{VectorX::Zero(joint_nodes_count), Vector3::Zero()};
  double total = 0;
  for (Index k = 0; k < 4; ++k) total += v.weights[4 * body + k] = random.uniform(-1, 1);
  v.weights[4 * body] += sum - total;
  return v;
}
NodeVector in_world(const Vector3& x) {
  return {VectorX::Zero(joint_nodes_count), x};
}
NodeVector between(const NodeVector& a, const NodeVector& b) {
  return {a.weights - b.weights, a.constant - b.constant};
}

/// One of each kind: linear, bilinear, with the world, and angles between bodies and against the world.
std::vector<JointCoordinate> coordinates(Random& random) {
  std::vector<Index> nodes(joint_nodes_count);
  for (Index n = 0; n < joint_nodes_count; ++n) nodes[std::size_t(n)] = n;
  using enum JointCoordinate::Kind;
  const NodeVector apart = between(on_body(random, 0, 1), on_body(random, 1, 1));
  return {{product, nodes, apart, in_world(random.unit()), {}},
          {product,
           nodes,
           between(on_body(random, 0, 1), in_world(random.vector())),
           in_world(random.unit()),
           {}},
          {product, nodes, apart, on_body(random, 1, 0), {}},
          {product, nodes, on_body(random, 0, 0), on_body(random, 1, 0), {}},
          {angle, nodes, on_body(random, 0, 0), on_body(random, 1, 0), on_body(random, 1, 0), 20.0},
          {angle, nodes, on_body(random, 0, 0), in_world(random.unit()), in_world(random.unit()), -3.0}};
}

/// Laws of every kind that at c are within their bounds, at one of them, or far beyond.
std::vector<std::vector<JointLaw>> laws(double c) {
  return {{{.target = c - 0.3, .multiplier = 2, .stiffness = 7}},                         // equality
          {{.target = c - 0.3, .lower = 0, .multiplier = 1, .stiffness = 7}},             // limit, pushes
          {{.target = c + 0.3, .lower = 0, .multiplier = 1, .stiffness = 7}},             // and does not
          {{.target = c + 0.3, .upper = 0, .multiplier = -1, .stiffness = 7}},            // from below
          {{.target = c - 5, .lower = -3, .upper = 3, .multiplier = 2, .stiffness = 7}},  // motor at its end
          {{.target = c + 0.01, .lower = -3, .upper = 3, .multiplier = -1, .stiffness = 7}},  // motor, not
          {{.target = c - 1.2, .stiffness = 4, .elastic = true}},                             // spring
          {{.target = c - 0.3, .lower = 0, .multiplier = 1, .stiffness = 7},
           {.target = c - 5, .lower = -3, .upper = 3, .stiffness = 7},
           {.target = c + 0.2, .stiffness = 4, .elastic = true}}};  // together
}

TEST(PotentialContract, JointsOfEveryCoordinateAndLawOnRandomStates) {
  Random random(7);
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix3X q = scattered(random);
    for (const JointCoordinate& coordinate : coordinates(random))
      for (const auto& some : laws(coordinate.value(q))) {
        Joints joints;
        joints.scale = 0.5;
        joints.rows.push_back({coordinate, some});
        expect_potential_contract(
            joints, q, fmt::format("trial {} law {}", trial, some[0].target),
            {.epsilon = 1e-6, .gradient_error = 1e-5, .hessian_error = 1e-4, .nearest = false});
      }
  }
}

TEST(PotentialContract, JointsOnDegenerateStates) {
  // Rigid bodies on each other: closed, aligned, opposite, and vectors of no length.
  Random random(3);
  Matrix3X q = scattered(random);
  q.rightCols(4) = q.leftCols(4);
  for (const JointCoordinate& coordinate : coordinates(random)) {
    Joints joints;
    joints.rows.push_back({coordinate, {{.multiplier = 3, .stiffness = 10}}});
    expect_potential_contract(joints, q, "coinciding bodies", {.hessian_error = 1e-4, .nearest = false});
  }
  const Matrix3X collapsed = Matrix3X::Zero(3, joint_nodes_count);
  for (const JointCoordinate& coordinate : coordinates(random)) {
    const VectorX g = coordinate.gradient(collapsed);
    Eigen::MatrixXd h = Eigen::MatrixXd::Zero(g.size(), g.size());
    coordinate.add_hessian(collapsed, 1, Projection::psd, h);
    EXPECT_TRUE(std::isfinite(coordinate.value(collapsed)) && g.allFinite() && h.allFinite());
  }
}

/// Of directions of two bodies that are as placed for q, or of one body against the world.
JointTurn turn_since(const Matrix3X& q, bool against_world) {
  JointTurn turn;
  for (Index n = 0; n < joint_nodes_count; ++n) turn.nodes.push_back(n);
  for (int body = 0; body < 2; ++body) {
    Eigen::Matrix4d corners;
    corners << q.middleCols(4 * body, 4), Eigen::RowVector4d::Ones();
    const Eigen::Matrix4d weights = corners.inverse();
    for (int k = 0; k < 3; ++k) {
      NodeVector& v = (body == 0 ? turn.first : turn.second)[std::size_t(k)];
      v = in_world(Vector3::Zero());
      if (body == 1 && against_world)
        v.constant = Vector3::Unit(k);
      else
        v.weights.segment<4>(4 * body) = weights.col(k);
    }
  }
  return turn;
}
Matrix3X turned(const Matrix3X& q, int body, const Vector3& w) {
  Matrix3X result = q;
  const double angle = w.norm();
  const Matrix3 rotation =
      angle > 0 ? Eigen::AngleAxisd(angle, w / angle).toRotationMatrix() : Matrix3(Matrix3::Identity());
  result.middleCols(4 * body, 4) = rotation * q.middleCols(4 * body, 4);
  return result;
}

TEST(JointTurn, IsTheRotationVectorUpToHalfATurn) {
  Random random(5);
  for (const double angle : {0.0, 1e-9, 1e-4, 0.01, 0.4, 0.45, 0.46, 1.5, 3.0}) {
    const Matrix3X q = scattered(random);
    const Vector3 w = angle * random.unit();
    EXPECT_NEAR((turn_since(q, true).value(turned(q, 0, w)) - w).norm(), 0, 1e-10) << angle;
    EXPECT_NEAR((turn_since(q, false).value(turned(q, 0, w)) - w).norm(), 0, 1e-10) << angle;
    EXPECT_NEAR((turn_since(q, false).value(turned(q, 1, w)) + w).norm(), 0, 1e-10) << angle;
  }
}

TEST(PotentialContract, TurnsOfBallJointsUnderEveryLaw) {
  Random random(11);
  for (const double angle : {0.0, 1e-3, 0.3, 0.44, 0.46, 1.2, 2.5})
    for (const bool against_world : {true, false}) {
      const Matrix3X start = scattered(random);
      const JointTurn turn = turn_since(start, against_world);
      Matrix3X q = turned(start, 0, angle * random.unit());
      for (Index n = 0; n < q.cols(); ++n) q.col(n) += 0.01 * random.vector();  // as affine bodies deform
      const std::vector<std::vector<TurnLaw>> all = {
          {{.stiffness = 4, .elastic = true}},
          {{.largest = 3, .multiplier = {0.5, -1, 0.2}, .stiffness = 0.1}},  // sticks
          {{.largest = 3, .multiplier = {0, 3, 0}, .stiffness = 20}},        // slides where it has turned
          {{.largest = 3, .multiplier = {1, 1, 1}, .stiffness = 50}, {.stiffness = 2, .elastic = true}}};
      for (const auto& some : all) {
        Joints joints;
        joints.scale = 0.5;
        joints.turns.push_back({turn, some});
        expect_potential_contract(joints, q, fmt::format("angle {} law {}", angle, some[0].largest),
                                  {.epsilon = 1e-6, .gradient_error = 1e-5, .hessian_error = 1e-4});
      }
    }
}

TEST(TurnLaw, BoundsTheTorqueInLengthWhateverItsDirection) {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const TurnLaw law{.largest = 2, .multiplier = 2 * random.unit(), .stiffness = 1e3};
    const Vector3 w = random.unit();
    EXPECT_NEAR(law.force(w).norm(), 2, 1e-12);
    EXPECT_NEAR(law.force(w).dot(w), 2, 1e-2) << "against the turn";
    EXPECT_LE(law.force(1e-5 * w).norm(), 2 + 1e-12);
    EXPECT_DOUBLE_EQ(law.error(Vector3::Zero()), 0) << "content where it holds";
  }
}

TEST(JointCoordinate, CountsWholeTurns) {
  JointCoordinate c;
  c.kind = JointCoordinate::Kind::angle;
  c.nodes = {0, 1};
  c.a.weights = VectorX::Zero(2);
  c.a.weights << -1, 1;
  c.b = {VectorX::Zero(2), Vector3::UnitX()};
  c.c = {VectorX::Zero(2), Vector3::UnitY()};
  c.near = -20;
  for (double angle = -20; angle < 20; angle += 0.1) {
    Matrix3X q(3, 2);
    q << 0, std::cos(angle), 0, std::sin(angle), 0, 0;
    EXPECT_NEAR(c.value(q), angle, 1e-12);
    c.near = angle;  // as the next step finds it
  }
}

TEST(JointLaw, IsAnAugmentedLagrangianWithBounds) {
  const JointLaw limit{.target = 1, .lower = 0, .multiplier = 2, .stiffness = 10};
  // ((max(0, λ + k g))² − λ²)/2k
  for (const double c : {-3.0, 0.79, 0.81, 1.0, 4.0}) {
    const double push = std::max(0.0, 2 + 10 * (c - 1));
    EXPECT_NEAR(limit.energy(c), (push * push - 4) / 20, 1e-14);
    EXPECT_NEAR(limit.force(c), push, 1e-14);
  }
  // Content where it neither presses nor is passed, or presses just there.
  EXPECT_EQ((JointLaw{.target = 1, .lower = 0, .stiffness = 10}.error(0.5)), 0);
  EXPECT_EQ(limit.error(1), 0);
  EXPECT_NEAR(limit.error(0.5), 0.2, 1e-15) << "it pulls, which is 2/10 too much";
  const JointLaw motor{.target = 1, .lower = -5, .upper = 5, .multiplier = -5, .stiffness = 10};
  EXPECT_EQ(motor.error(0), 0) << "at its largest force it need not reach its target";
  EXPECT_EQ(motor.curvature(0), 0);
  EXPECT_EQ((JointLaw{.target = 1, .stiffness = 10, .elastic = true}.error(7)), 0);
}

}  // namespace
}  // namespace apart::test
