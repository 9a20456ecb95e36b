// Which node coordinates are scripted, when, and where they should be.
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/simulation/scripted_nodes.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <limits>
#include <numbers>
#include <random>

namespace apart::test {
namespace {

constexpr std::array<bool, 3> all_axes = {true, true, true};

/// Two boxes of 8 nodes each, and a moving half-space.
std::vector<Body> boxes() {
  const NeoHookean soft{lame_parameters(1e5, 0.4)};
  Mesh right = generate::box({1, 1, 1}, {1, 1, 1});
  right.points.row(0).array() += 3;
  return {make_volume("left", generate::box({1, 1, 1}, {1, 1, 1}), soft, 1000, MassKind::lumped),
          make_volume("right", right, soft, 1000, MassKind::lumped)};
}

Model model_of(std::vector<Body> bodies) {
  PairTable pairs(int(bodies.size()), PairSettings{});
  return Model(std::move(bodies), pairs, {});
}

State start_of(const Model& model) {
  State s;
  s.nodes = s.previous_nodes = model.initial_nodes;
  s.velocity = s.previous_velocity = model.initial_velocity;
  return s;
}

Motion along(const Vector3& velocity) {
  return [velocity](const Matrix3X& start, double t) -> Matrix3X { return start.colwise() + velocity * t; };
}
Motion turning(double radians_per_second) {
  return rigid_motion([=](double t) {
    return Pose{.rotation = Eigen::AngleAxisd(radians_per_second * t, Vector3::UnitZ()).toRotationMatrix()};
  });
}

TEST(ScriptedNodes, MaskIsTrueForTheAxesNodesAndTimesOfSomeScript) {
  std::vector<Body> bodies = boxes();
  const std::vector<Index> one = {2}, two = {2, 5};
  add_script(bodies[1], &one, {true, false, false}, {});
  add_script(bodies[1], &two, {false, false, true}, {}, {0.1, 0.3});
  const Model model = model_of(std::move(bodies));
  const ScriptedNodes nodes(model);
  for (const auto& [time, late] :
       {std::pair(0.05, false), {0.1, false}, {0.1001, true}, {0.3, true}, {0.31, false}}) {
    ScriptedNodes::Mask expected = ScriptedNodes::Mask::Constant(3, 16, false);
    expected(0, 8 + 2) = true;
    if (late) expected(2, 8 + 2) = expected(2, 8 + 5) = true;
    EXPECT_TRUE((nodes.mask(time) == expected).all()) << time;
  }
}

TEST(ScriptedNodes, ApplySetsScriptedCoordinatesAndNothingElse) {
  std::vector<Body> bodies = boxes();
  const std::vector<Index> some = {1, 6};
  add_script(bodies[0], &some, {true, false, true}, along({1, 2, 3}));
  add_script(bodies[1], nullptr, all_axes, {});
  const Model model = model_of(std::move(bodies));
  const ScriptedNodes nodes(model);
  const Matrix3X q = Matrix3X::Random(3, 16), moved = nodes.apply(q, {}, 0.5);
  Matrix3X expected = q;
  for (const Index n : some) {
    expected(0, n) = model.initial_nodes(0, n) + 0.5;
    expected(2, n) = model.initial_nodes(2, n) + 1.5;
  }
  expected.rightCols(8) = model.initial_nodes.rightCols(8);  // held where they start
  EXPECT_EQ(moved, expected);
  EXPECT_EQ(nodes.anchor_count(), 0);
}

TEST(ScriptedNodes, AbsentBodiesStayWhereTheyAre) {
  std::vector<Body> bodies = boxes();
  add_script(bodies[1], nullptr, all_axes, along({1, 0, 0}));
  bodies[1].presence = {0.2, 0.4};
  const Model model = model_of(std::move(bodies));
  const ScriptedNodes nodes(model);
  const Matrix3X q = Matrix3X::Random(3, 16);
  EXPECT_EQ(nodes.apply(q, {}, 0.1), q);
  EXPECT_NE(nodes.apply(q, {}, 0.3), q);
  EXPECT_EQ(nodes.apply(q, {}, 0.5), q);
}

TEST(ScriptedNodes, AScriptThatBeginsLateTakesNodesWhereTheyAreThen) {
  std::vector<Body> bodies = boxes();
  const std::vector<Index> some = {3, 4};
  add_script(bodies[1], &some, all_axes, along({0, 1, 0}), {0.1});
  add_script(bodies[0], nullptr, all_axes, {});
  const Model model = model_of(std::move(bodies));
  const ScriptedNodes nodes(model);
  ASSERT_EQ(nodes.anchor_count(), 2);
  State state = start_of(model);
  state.anchors = nodes.anchors(state, 0.05);
  EXPECT_EQ(state.anchors, Matrix3X::Zero(3, 2)) << "has not begun";
  // Ten steps on, they are somewhere else.
  state.step = 10;
  state.time = 0.1;
  state.nodes += Matrix3X::Random(3, 16);
  const Matrix3X taken = state.nodes.middleCols(8 + 3, 2);
  state.anchors = nodes.anchors(state, 0.11);
  EXPECT_EQ(state.anchors, taken);
  // Later steps keep them, wherever the nodes have gone; their motion counts from the time and place taken.
  state.step = 11;
  state.time = 0.11;
  state.nodes += Matrix3X::Random(3, 16);
  EXPECT_EQ(nodes.anchors(state, 0.12), taken);
  const Matrix3X moved = nodes.apply(state.nodes, taken, 0.35);
  const Matrix3X expected = taken.colwise() + Vector3(0, 0.25, 0);
  EXPECT_LT((moved.middleCols(8 + 3, 2) - expected).norm(), 1e-15);
}

TEST(ScriptedNodes, AStateOfAnotherModelIsRefused) {
  std::vector<Body> bodies = boxes();
  add_script(bodies[1], nullptr, all_axes, {}, {0.1});
  const Model model = model_of(std::move(bodies));
  const ScriptedNodes nodes(model);
  State state = start_of(model);
  state.anchors = Matrix3X::Zero(3, 3);
  EXPECT_THROW(nodes.anchors(state, 0.2), InvariantError);
  state.anchors.resize(3, 0);
  state.step = 4;  // there would be anchors by now
  EXPECT_THROW(nodes.anchors(state, 0.2), InvariantError);
}

TEST(ScriptedNodes, AMotionThatIsNotFiniteIsReportedWithItsBodyAndTime) {
  std::vector<Body> bodies = boxes();
  add_script(bodies[1], nullptr, all_axes, [](const Matrix3X& start, double t) -> Matrix3X {
    return t > 0.2 ? Matrix3X(start / 0.0) : start;
  });
  const Model model = model_of(std::move(bodies));
  const ScriptedNodes nodes(model);
  EXPECT_NO_THROW(nodes.apply(model.initial_nodes, {}, 0.2));
  try {
    nodes.apply(model.initial_nodes, {}, 0.25);
    FAIL();
  } catch (const SolverError& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("'right'"), std::string::npos) << message;
    EXPECT_NE(message.find("0.25 s"), std::string::npos) << message;
  }
}

TEST(ScriptedNodes, StraightMotionsAreOnePieceAndTurnsAsManyAsTheyNeed) {
  for (const double turn : {0.0, 0.02, 0.3, 1.0, 6.0, 2 * std::numbers::pi}) {  // [rad] in the time asked for
    std::vector<Body> bodies = boxes();
    add_script(bodies[0], nullptr, all_axes, turning(turn));
    add_script(bodies[1], nullptr, all_axes, along({100, 3, 0}));
    const Model model = model_of(std::move(bodies));
    const ScriptedNodes nodes(model);
    const ScriptedNodes::Curves curves = nodes.curves(start_of(model), 1);
    ASSERT_EQ(curves.of_body.size(), 2u);
    EXPECT_EQ(curves.of_body[1], 1);
    const int pieces = curves.of_body[0];
    EXPECT_EQ(curves.most, pieces);
    EXPECT_EQ(curves.most_attached, 1) << "whole bodies have nothing to follow";
    // A chord of an arc of angle a and radius r deviates by r (1 − cos a/2); half as many would be too few.
    const double radius = std::sqrt(0.5), size = std::sqrt(3.0);
    const auto deviation = [&](int n) { return radius * (1 - std::cos(turn / n / 2)); };
    EXPECT_LT(deviation(pieces), 1.1 * 5e-4 * size) << turn;
    if (pieces > 1) {
      EXPECT_GT(deviation(pieces / 2), 0.9 * 5e-4 * size) << turn;
    }
    EXPECT_EQ(nodes.curves(start_of(model), 0.5).of_body[0], std::max(1, pieces / 2)) << turn;
  }
}

TEST(ScriptedNodes, WhatTurnsTooFastToBeFollowedIsRefusedAndAJumpIsNot) {
  const auto curves_of = [](const Motion& motion) {
    std::vector<Body> bodies = boxes();
    add_script(bodies[0], nullptr, all_axes, motion);
    const Model model = model_of(std::move(bodies));
    return ScriptedNodes(model).curves(start_of(model), 1).of_body[0];
  };
  EXPECT_EQ(curves_of(turning(60)), 1024);
  for (const double turn : {400.0, 1e6, 1024 * 2 * std::numbers::pi}) {
    try {
      curves_of(turning(turn));
      ADD_FAILURE() << turn;
    } catch (const SolverError& error) {
      EXPECT_NE(std::string(error.what()).find("shorten time.dt"), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(curves_of([](const Matrix3X& x, double t) { return t < 0.3 ? x : Matrix3X(x.array() + 5); }),
            1024);
}

TEST(ScriptedNodes, WhatTheRestOfABodyMustFollowIsCountedByItself) {
  std::vector<Body> bodies = boxes();
  const std::vector<Index> some = {0, 1, 2};
  add_script(bodies[0], &some, all_axes, turning(1));
  add_script(bodies[1], nullptr, all_axes, turning(3));
  const Model model = model_of(std::move(bodies));
  const ScriptedNodes::Curves curves = ScriptedNodes(model).curves(start_of(model), 1);
  EXPECT_EQ(curves.most_attached, curves.of_body[0]);
  EXPECT_EQ(curves.most, curves.of_body[1]);
  EXPECT_GT(curves.most, curves.most_attached);
  EXPECT_GT(curves.most_attached, 1);
}

TEST(ScriptedNodes, AxesThatAreFreeAndTimesBeyondTheStepMakeNoCurve) {
  std::vector<Body> bodies = boxes();
  add_script(bodies[0], nullptr, {false, false, true}, turning(3));  // about z: z does not change
  add_script(bodies[1], nullptr, all_axes, turning(3), {0, 0.5});
  const Model model = model_of(std::move(bodies));
  const ScriptedNodes nodes(model);
  EXPECT_EQ(nodes.curves(start_of(model), 1).most, 1);
  EXPECT_GT(nodes.curves(start_of(model), 0.5).most, 1);
}

}  // namespace
}  // namespace apart::test
