// Air that resists, and seams that close.
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <Eigen/Geometry>
#include <numbers>

namespace apart::test {
namespace {

Wind air(const Vector3& velocity) {
  Wind wind;
  wind.velocity = [velocity](const Vector3&, double) { return velocity; };
  wind.density = 1.2;
  wind.normal = 1;
  wind.tangential = 0;
  return wind;
}

TEST(Wind, WhatFallsReachesTheSpeedAtWhichDragHoldsItsWeight) {
  SmallScene scene;
  Body ball = make_particles("ball", generate::points({1, 1, 1}, 1), 0.01, 10);
  ball.winds = {air({0, 0, 0})};
  ball.winds[0].points = all_points(ball);
  Body rod = make_rod("rod", moved(generate::segments(0.5, 3), {0, 0, 1}),
                      {.density = 10, .young = 1e8, .radius = 0.01}, RestCurvature::mesh);
  rod.winds = {air({0, 0, 0})};
  rod.winds[0].segments = rod.sets.add_segments("all", {0, 1, 2});
  scene.bodies = {ball, rod};
  const auto simulation = scene.simulation();
  for (int k = 0; k < 300; ++k) simulation->step();
  const double g = 9.81;
  const double ball_speed = std::sqrt(total_mass(ball) * g / (0.5 * 1.2 * std::numbers::pi * 1e-4));
  const double rod_speed = std::sqrt(total_mass(rod) * g / (0.5 * 1.2 * 0.02 * 0.5));
  EXPECT_NEAR(-simulation->state().velocity(1, 0), ball_speed, 1e-3 * ball_speed);
  // Its ends weigh half as much as its inner nodes and take half of the drag.
  for (Index i = 1; i < 5; ++i)
    EXPECT_NEAR(-simulation->state().velocity(1, i), rod_speed, 1e-2 * rod_speed) << i;
}

TEST(Wind, TakesAlongWhatItBlowsOnAndNeverOvertakesItself) {
  SmallScene scene;
  Body box = make_volume("box", generate::box({0.2, 0.2, 0.2}, {2, 2, 2}), soft(1e5), 5, MassKind::lumped);
  box.winds = {air({3, 0, 0})};
  box.winds[0].facets = all_facets(box);
  scene.bodies = {box};
  scene.options.gravity.setZero();
  const auto simulation = scene.simulation();
  double before = 0;
  for (int k = 0; k < 100; ++k) {
    simulation->step();
    const double speed = linear_momentum(*simulation)[0] / total_mass(box);
    if (k == 0) {
      // One side, of 0.04 m², takes all of it; and the air passes it by half of the speed that it gets more
      // slowly.
      const double still = 0.01 * 0.5 * 1.2 * 0.04 * 9 / total_mass(box);
      EXPECT_NEAR(speed, still * std::pow(1 - still / 6, 2), 1e-3 * still);
    }
    EXPECT_GE(speed, before);
    EXPECT_LE(speed, 3);
    before = speed;
  }
  EXPECT_GT(before, 0.5);
}

TEST(Stitches, DrawTwoRodsTogetherAndHoldThem) {
  // Two chains of one body, points of the one sewn to edges of the other.
  Mesh lower = generate::segments(0.4, 8), both;
  both.points.resize(3, 18);
  both.points << lower.points, lower.points.colwise() + Vector3(0.01, 0.2, 0);
  both.edges.resize(2, 16);
  both.edges << lower.edges, lower.edges.array() + 9;
  Body rods = make_rod("rods", both, {.density = 1000, .young = 1e6, .radius = 0.005}, RestCurvature::mesh);
  std::vector<AttachedSpring> seam;
  for (Index i = 1; i < 8; ++i) {
    // The upper chain is shifted by a fifth of a segment, so the place opposite is on an edge.
    AttachedSpring a{i, {9 + i, 9 + i - 1, -1}, {0.8, 0.2, 0}, 0, 0};
    if (i % 2 == 0) {
      std::swap(a.others[0], a.others[1]);
      std::swap(a.weights[0], a.weights[1]);
    }
    seam.push_back(a);
  }
  const auto gap = [&](const Matrix3X& x) {
    double widest = 0;
    for (const AttachedSpring& a : seam) {
      const Vector3 d =
          x.col(a.point) - a.weights[0] * x.col(a.others[0]) - a.weights[1] * x.col(a.others[1]);
      widest = std::max(widest, d.norm());
    }
    return widest;
  };
  SmallScene scene;
  scene.bodies = {rods};
  scene.contact.thickness = 0.01;
  scene.contact.dhat = 1e-3;
  scene.options.gravity.setZero();
  scene.options.solver.tolerance = 1e-4;
  Attachment sewn;
  sewn.stiffness = 500;
  attach(sewn, seam, scene.bodies, "seam");
  const auto simulation = scene.simulation({sewn});
  for (int k = 0; k < 100; ++k) {
    simulation->step();
    expect_intersection_free(*simulation);
  }
  // As near as thickness lets them, and no more.
  EXPECT_LT(gap(simulation->state().nodes), 0.0115);
  EXPECT_GT(gap(simulation->state().nodes), 0.01);
}

TEST(Stitches, ThatCloseInAGivenTimeFollowIt) {
  const AttachedSpring spring{0, {1, -1, -1}, {1, 0, 0}, 0.05, 0.25};
  Attachment seam;
  seam.stiffness = 1e5;
  seam.when.from = 0.1;
  seam.closing = 0.5;
  EXPECT_EQ(seam.rest_length(spring, 0.05), 0.25);
  EXPECT_NEAR(seam.rest_length(spring, 0.35), 0.15, 1e-15);
  EXPECT_EQ(seam.rest_length(spring, 2), 0.05);
  SmallScene scene;
  scene.bodies = {make_particles("balls", generate::points({2, 1, 1}, 0.25), 0.01, 1000)};
  scene.options.gravity.setZero();
  attach(seam, {spring}, scene.bodies, "seam");
  const auto simulation = scene.simulation({seam});
  for (int k = 1; k <= 80; ++k) {
    simulation->step();
    const Matrix3X& x = simulation->state().nodes;
    EXPECT_NEAR((x.col(1) - x.col(0)).norm(), seam.rest_length(spring, 0.01 * k), 1e-5) << k;
  }
}

}  // namespace
}  // namespace apart::test
