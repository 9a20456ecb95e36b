// Bodies that are thicker than their segments and triangles are long.
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <Eigen/Geometry>

namespace apart::test {
namespace {

/// Smallest distance of nodes of a chain that are at least `apart` [m] from each other along it.
double smallest_distance(const Matrix3X& x, double segment, double apart) {
  double smallest = 1;
  for (Index i = 0; i < x.cols(); ++i)
    for (Index j = i + 1; j < x.cols(); ++j)
      if (segment * (j - i) >= apart) smallest = std::min(smallest, (x.col(i) - x.col(j)).norm());
  return smallest;
}

TEST(Thickness, ARodThickerThanItsSegmentsStartsRestsAndCoils) {
  // Segments of 5 mm, 16 mm thick. It falls on its end, buckles and lies on itself and on the ground.
  const int n = 60;
  const double segment = 0.005, thickness = 0.016, dhat = 0.002;
  Mesh mesh = turned(generate::segments(n * segment, n), Vector3::UnitZ(), 1.4);
  Body rod = make_rod("rod", moved(mesh, {0, 0.17, 0}),
                      {.density = 1000, .young = 2e4, .radius = thickness / 2}, RestCurvature::mesh);
  SmallScene scene;
  scene.bodies = {rod, make_half_space("ground", {0, 0, 0}, {0, 1, 0})};
  scene.contact.thickness = thickness;
  scene.contact.dhat = dhat;
  scene.options.solver.tolerance = 1e-3;
  {
    // Nothing acts on it where it is made.
    SmallScene still = scene;
    still.options.gravity.setZero();
    const auto simulation = still.simulation();
    EXPECT_EQ(simulation->step().contacts, 0);
    EXPECT_LT((simulation->state().nodes - rod.nodes).norm(), 1e-12);
  }
  const auto simulation = scene.simulation();
  double least = 1;
  for (int k = 0; k < 60; ++k) {
    simulation->step();
    expect_intersection_free(*simulation);
    least =
        std::min(least, smallest_distance(simulation->state().nodes, segment, thickness + dhat + segment));
    EXPECT_GT(simulation->state().nodes.row(1).minCoeff(), thickness);
  }
  EXPECT_GT(least, thickness);
}

TEST(Thickness, PiecesOfOneBodyKeepAllOfItFromEachOther) {
  // Two rods, one body, finer than they are thick: one falls across the other.
  Mesh lower = generate::segments(0.1, 30), upper = lower;
  upper.points = Eigen::AngleAxisd(1.5, Vector3::UnitY()).toRotationMatrix() * upper.points;
  Mesh both;
  both.points.resize(3, 62);
  both.points << lower.points, upper.points.colwise() + Vector3(0, 0.03, 0);
  both.edges.resize(2, 60);
  both.edges << lower.edges, lower.edges.array() + 31;
  Body rods = make_rod("rods", both, {.density = 1000, .young = 1e6, .radius = 0.005}, RestCurvature::mesh);
  std::vector<Index> held(31);
  for (Index i = 0; i < 31; ++i) held[std::size_t(i)] = i;
  add_script(rods, &held, {true, true, true}, {});
  SmallScene scene;
  scene.bodies = {rods};
  scene.contact.thickness = 0.01;
  scene.contact.dhat = 1e-3;
  const auto simulation = scene.simulation();
  for (int k = 0; k < 20; ++k) simulation->step();
  expect_intersection_free(*simulation);
  const double height = simulation->state().nodes(1, 31 + 15);
  EXPECT_GT(height, 0.01);
  EXPECT_LT(height, 0.011);
}

TEST(Thickness, SqueezedNeighboursPushBackBeforeTheyTouch) {
  // A rod of four segments is pressed together between two plates to two thirds of its length, and stays
  // straight. It cannot be much less: nodes three segments apart keep all of the thickness from each other.
  const double segment = 0.005;
  Body rod = make_rod("rod", generate::segments(4 * segment, 4),
                      {.density = 1000, .young = 1e3, .radius = 0.005}, RestCurvature::mesh);
  add_script(rod, nullptr, {false, true, true}, {});
  const auto push = [](double sign) {
    return [sign](const Matrix3X& start, double time) -> Matrix3X {
      return start.colwise() + Vector3(sign * 0.0048 * std::min(time / 0.2, 1.0), 0, 0);
    };
  };
  const std::vector<Index> left = {0}, right = {4};
  SmallScene scene;
  for (const double sign : {1.0, -1.0}) {
    Mesh plate = turned(generate::grid(0.1, 0.1, 1, 1), Vector3::UnitZ(), 1.5707963267948966);
    scene.bodies.push_back(make_obstacle("plate", moved(plate, {-sign * 0.0215, 0, 0.001}), push(sign)));
  }
  scene.bodies.push_back(rod);
  scene.contact.thickness = 0.01;
  scene.contact.dhat = 1e-3;
  scene.options.solver.tolerance = 1e-4;
  const auto simulation = scene.simulation();
  Index contacts = 0;
  for (int k = 0; k < 25; ++k) {
    contacts = std::max(contacts, simulation->step().contacts);
    expect_intersection_free(*simulation);
    const auto x = simulation->state().nodes.rightCols(5);
    for (Index i = 0; i < 4; ++i) EXPECT_GT(x(0, i + 1), x(0, i)) << "nodes keep their order";
    EXPECT_GT(x(0, 0), simulation->state().nodes(0, 0)) << "between the plates";
    EXPECT_LT(x(0, 4), simulation->state().nodes(0, 4));
  }
  EXPECT_GT(contacts, 0);
  const auto x = simulation->state().nodes.rightCols(5);
  EXPECT_LT(x(0, 4) - x(0, 0), 0.0135);
}

}  // namespace
}  // namespace apart::test
