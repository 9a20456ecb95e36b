// Numbers that engineers look up come out right with default settings: scenes as people write them, no
// tolerance, no dhat, no stiffness of contact given.
#include <apart/scene/examples.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/scene_file.hpp>
#include <apart/simulation/simulation.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

namespace apart::test {
namespace {

constexpr double g = 9.81;

/// A scene, run to its end.
struct History {
  std::vector<std::vector<std::vector<double>>> probes;  ///< of each step and probe
  std::vector<StepReport> steps;
};

History run(const std::string& scene_text, const std::vector<std::string>& overrides = {}) {
  const Scene scene = build_scene(parse_scene(scene_text, "scene.json", ".", overrides));
  Simulation simulation(scene.model);
  History result;
  for (Index step = 0; step < scene.steps; ++step) {
    result.steps.push_back(simulation.step());
    result.probes.emplace_back();
    for (const Probe& probe : scene.probes) result.probes.back().push_back(simulation.measure(probe));
  }
  return result;
}

/// One number of one probe after every step.
std::vector<double> curve(const History& run, std::size_t probe, std::size_t column) {
  std::vector<double> values;
  for (const auto& step : run.probes) values.push_back(step[probe][column]);
  return values;
}

/// A plastic cantilever of 20 mm and a block that is pushed against its end, or the cantilever against the
/// block.
std::string beam(bool block_moves) {
  const std::string fixed =
      R"({"where": {"expression": "x < -0.0099"})" +
      std::string(block_moves ? "}" : R"(, "motion": {"translate": [0, "0.002*t", 0]}})");
  return R"({"version": 1, "time": {"dt": 0.05, "tend": 0.5, "integrator": "quasi_static"}, "gravity": [0, 0, 0],
    "bodies": [{"type": "volume", "name": "beam",
      "mesh": {"generator": "rod", "length": 0.02, "thickness": 0.002, "cells": 20, "cross_cells": 2},
      "material": {"type": "neo_hookean", "E": 2.3e9, "nu": 0.35}, "fixed": [)" +
         fixed + R"(]},
     {"type": "obstacle", "name": "pusher", "mesh": {"generator": "box", "size": [0.002, 0.002, 0.006], "cells": 2},
      "transform": {"translate": [0.009, 0.0021, 0]})" +
         (block_moves ? R"(, "motion": {"translate": [0, "-0.002*t", 0]})" : "") + R"(}],
    "contact": {"friction_coefficient": 0.3},
    "probes": [{"name": "clamp", "type": "reaction", "body": "beam"},
               {"name": "push", "type": "reaction", "body": "pusher"}]})";
}

/// Rises, and from the third step on by steps that differ by less than `share` of their mean.
void expect_even_rise(const std::vector<double>& force, double share) {
  const std::size_t n = force.size();
  const double mean = (force[n - 1] - force[2]) / double(n - 3);
  for (std::size_t i = 3; i < n; ++i)
    EXPECT_NEAR(force[i] - force[i - 1], mean, share * mean) << "step " << i + 1;
}

/// The mesh, as scenes write it, of some cells of a grid: each cell six tetrahedra, grid point (i, j, k) at
/// `place`.
std::string grid_mesh(const std::vector<std::array<int, 3>>& cells,
                      const std::function<Vector3(const std::array<int, 3>&)>& place) {
  std::map<std::array<int, 3>, int> points;
  std::string point_text, cell_text;
  const auto point = [&](const std::array<int, 3>& at) {
    const auto [entry, is_new] = points.try_emplace(at, int(points.size()));
    const Vector3 x = place(at);
    if (is_new) point_text += fmt::format("{}[{}, {}, {}]", entry->second > 0 ? ", " : "", x[0], x[1], x[2]);
    return entry->second;
  };
  for (const auto& cell : cells) {
    std::array<std::size_t, 3> order = {0, 1, 2};
    do {  // the ways from the cell's first corner to its last, one axis after the other
      std::array<int, 3> at = cell;
      cell_text += fmt::format("{}[{}", cell_text.empty() ? "" : ", ", point(at));
      for (const std::size_t axis : order) {
        ++at[axis];
        cell_text += fmt::format(", {}", point(at));
      }
      cell_text += "]";
    } while (std::next_permutation(order.begin(), order.end()));
  }
  return fmt::format(R"({{"points": [{}], "tetrahedra": [{}]}})", point_text, cell_text);
}

TEST(Defaults, APushedBeamResistsByAnEvenlyRisingForce) {
  const History pushed = run(beam(true)), tight = run(beam(true), {"solver.force_tolerance=1e-8"});
  const std::vector<double> force = curve(pushed, 0, 1), exact = curve(tight, 0, 1);
  expect_even_rise(force, 0.03);  // measured: 2 %, and less from step to step as the beam bends
  for (std::size_t i = 0; i < force.size(); ++i) {
    EXPECT_NEAR(force[i], exact[i], 0.03 * exact[i]) << "step " << i + 1;
    EXPECT_NEAR(pushed.probes[i][1][1], -force[i], 2e-3 * force[i]) << "action and reaction, step " << i + 1;
    EXPECT_LE(pushed.steps[i].force_residual, 1e-3) << i + 1;
    EXPECT_GT(pushed.steps[i].gap_share, 0.1) << "contacts rest well inside dhat, step " << i + 1;
  }
}

TEST(Defaults, ItDoesNotMatterWhichOfTwoPartsIsMoved) {
  const std::vector<double> block = curve(run(beam(true)), 0, 1), clamp = curve(run(beam(false)), 0, 1);
  for (std::size_t i = 0; i < block.size(); ++i) EXPECT_NEAR(block[i], clamp[i], 0.01 * block[i]) << i + 1;
}

TEST(Defaults, AGasketThatIsPressedTogetherResistsEvenly) {
  const std::string scene = R"({"version": 1, "time": {"dt": 0.1, "steps": 10, "integrator": "quasi_static"},
    "gravity": [0, 0, 0], "bodies": [
     {"type": "volume", "name": "gasket",
      "mesh": {"generator": "torus", "major": 0.01, "minor": 0.0015, "ring_cells": 24, "tube_cells": 8},
      "material": {"type": "neo_hookean", "E": 5e6, "nu": 0.45}},
     {"type": "half_space", "name": "seat", "origin": [0, -0.00152, 0]},
     {"type": "obstacle", "name": "lid", "mesh": {"generator": "box", "size": [0.03, 0.002, 0.03]},
      "transform": {"translate": [0, 0.00252, 0]}, "motion": {"translate": [0, "-0.0006*t", 0]}}],
    "contact": {"friction_coefficient": 0.3},
    "probes": [{"name": "lid", "type": "reaction", "body": "lid"}]})";
  const std::vector<double> force = curve(run(scene), 0, 1),
                            exact = curve(run(scene, {"solver.force_tolerance=1e-7"}), 0, 1);
  for (std::size_t i = 0; i < force.size(); ++i) {
    EXPECT_NEAR(force[i], exact[i], 0.03 * std::abs(exact[i])) << "step " << i + 1;
    if (i > 0) {
      EXPECT_LT(force[i], force[i - 1]) << "the lid is held down ever harder, step " << i + 1;
    }
  }
}

TEST(Defaults, ASnapFitGivesWayAndSnapsBack) {
  // A cantilever of 20 mm with a nose at its end, pushed under a fixed edge that reaches 0.3 mm below the
  // nose's top; behind the nose it springs back.
  std::vector<std::array<int, 3>> cells;
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < (i >= 18 ? 3 : 2); ++j)
      for (int k = 0; k < 2; ++k) cells.push_back({i, j, k});
  const std::string hook = grid_mesh(cells, [](const std::array<int, 3>& at) {
    const double nose = std::array{0.8, 0.5, 0.2}[std::size_t(std::max(at[0] - 18, 0))];
    return Vector3(1e-3 * Vector3(at[0] - 10, at[1] < 3 ? at[1] - 1 : 1 + nose, at[2] - 1));
  });
  const std::string scene =
      R"({"version": 1, "time": {"dt": 0.05, "steps": 36, "integrator": "quasi_static"}, "gravity": [0, 0, 0],
    "bodies": [{"type": "volume", "name": "hook", "mesh": )" +
      hook + R"(, "material": {"type": "neo_hookean", "E": 2.3e9, "nu": 0.35},
      "fixed": [{"where": {"expression": "x < -0.0099"}, "motion": {"translate": ["0.0025*t", 0, 0]}}]},
     {"type": "obstacle", "name": "catch", "mesh": {"generator": "box", "size": [0.002, 0.002, 0.006], "cells": 2},
      "transform": {"rotate": [0, 0, 45], "translate": [0.0117, 0.0029142, 0]}}],
    "contact": {"friction_coefficient": 0.2}, "probes": [{"name": "push", "type": "reaction", "body": "hook"}]})";
  const History result = run(scene), tight = run(scene, {"solver.force_tolerance=1e-7"});
  const std::vector<double> push = curve(result, 0, 0), side = curve(result, 0, 1);
  const std::vector<double> push_exact = curve(tight, 0, 0), side_exact = curve(tight, 0, 1);
  const double largest = *std::max_element(push_exact.begin(), push_exact.end());
  for (std::size_t i = 0; i < push.size(); ++i) {
    EXPECT_NEAR(push[i], push_exact[i], 0.03 * std::abs(push_exact[i]) + 1e-3 * largest) << "step " << i + 1;
    EXPECT_NEAR(side[i], side_exact[i], 0.03 * std::abs(side_exact[i]) + 1e-3 * largest) << "step " << i + 1;
  }
  const auto top = std::max_element(push.begin(), push.end());
  EXPECT_TRUE(std::is_sorted(push.begin() + 20, top)) << "ever harder up the nose";
  EXPECT_LT(*std::min_element(top, push.end()), -0.3 * *top) << "behind its top the nose is pulled in";
  EXPECT_NEAR(push.back(), 0, 1e-6 * *top) << "and is free in the end";
  // The nose's slope of 17° and μ = 0.2: the edge pushes against the movement tan(17° + atan 0.2) times as
  // hard as to the side; the beam's own slope, a few degrees, makes it less: measured 5 %, which are 1.2°.
  const double ratio = push[25] / side[25], straight = std::tan(std::atan(0.3) + std::atan(0.2));
  EXPECT_LT(ratio, straight);
  EXPECT_GT(ratio, 0.92 * straight);
}

TEST(Defaults, ABallPressedIntoABlockFeelsTheForceOfHertz) {
  // A quarter of a block of 4.7 m × 4.7 m × 2.4 m, with 2 cm cells near a ball of 1 m: four to seven cells
  // across the radius of contact.
  std::vector<double> places = {0};
  for (int i = 0; i < 15; ++i) places.push_back(places.back() + 0.02 * std::pow(1.5, std::max(0, i - 5)));
  std::vector<std::array<int, 3>> cells;
  for (int i = 0; i < 15; ++i)
    for (int j = 0; j < 15; ++j)
      for (int k = 0; k < 15; ++k) cells.push_back({i, j, k});
  const std::string block = grid_mesh(cells, [&](const std::array<int, 3>& at) {
    return Vector3(places[std::size_t(at[0])], -places[std::size_t(at[1])], places[std::size_t(at[2])]);
  });
  const History result = run(R"({"version": 1, "time": {"dt": 0.1, "steps": 4, "integrator": "quasi_static"},
    "gravity": [0, 0, 0], "bodies": [{"type": "volume", "name": "block", "mesh": )" +
                             block + R"(, "material": {"type": "neo_hookean", "E": 1e6, "nu": 0.3},
      "fixed": [{"where": {"expression": "x < 1e-9"}, "axes": "x"}, {"where": {"expression": "z < 1e-9"}, "axes": "z"},
                {"where": {"expression": "y < -2.36"}}]},
     {"type": "obstacle", "name": "ball", "mesh": {"generator": "sphere", "radius": 1, "resolution": 60},
      "transform": {"translate": [0, 1.001, 0]}, "motion": {"translate": [0, "-0.04*t", 0]}}],
    "probes": [{"name": "force", "type": "reaction", "body": "ball"},
               {"name": "below", "type": "position", "body": "block",
                "where": {"expression": "x*x + y*y + z*z < 1e-12"}}]})");
  for (const auto& step : result.probes) {
    const double depth = -step[1][1], hertz = 4.0 / 3 * 1e6 / (1 - 0.09) * std::pow(depth, 1.5);
    EXPECT_NEAR(-4 * step[0][1], hertz, 0.06 * hertz) << depth;
  }
}

// ---- Friction -----------------------------------------------------------------------------------

struct Sliding {
  std::string body;
  double height;  ///< [m] of its reference point when it lies on the plane
};
const std::map<std::string, Sliding> sliding_bodies = {
    {"volume",
     {R"("type": "volume", "mesh": {"generator": "box", "size": [0.2, 0.1, 0.2], "cells": [4, 2, 4]},
                   "material": {"type": "neo_hookean", "E": 1e6})",
      0.05}},
    {"affine", {R"("type": "affine", "mesh": {"generator": "box", "size": [0.2, 0.1, 0.2]})", 0.05}},
    {"shell",
     {R"("type": "shell", "mesh": {"generator": "grid", "size": [0.2, 0.2], "cells": [6, 6]},
                  "material": {"type": "koiter", "E": 1e6, "thickness": 1e-3})",
      5e-4}},
    {"rod",
     {R"("type": "rod", "mesh": {"generator": "bundle", "counts": [1, 1], "length": 0.2, "cells": 10},
                "material": {"E": 1e7, "radius": 2e-3})",
      2e-3}},
    {"particles",
     {R"("type": "particles", "mesh": {"points": [[0, 0, 0], [0.1, 0, 0], [0, 0, 0.1]]}, "radius": 5e-3)",
      5e-3}}};

/// Acceleration along a plane of μ = 0.3 that is inclined to tan α = ratio μ [m/s²], once the body lies on
/// it. The plane is level and gravity inclined.
double acceleration(const std::string& kind, double ratio) {
  const double alpha = std::atan(0.3 * ratio);
  const auto& [body, height] = sliding_bodies.at(kind);
  const std::string turned = kind == "rod" ? R"("rotate": [0, 0, 90], )" : "";
  const History result = run(fmt::format(
      R"({{"version": 1, "time": {{"dt": 0.01, "steps": 40}}, "gravity": [{}, {}, 0],
          "bodies": [{{"type": "half_space", "name": "floor"}},
                     {{"name": "body", "transform": {{{}"translate": [0, {}, 0]}}, {}}}],
          "contact": {{"friction_coefficient": 0.3}},
          "probes": [{{"name": "speed", "type": "velocity", "body": "body"}}]}})",
      g * std::sin(alpha), -g * std::cos(alpha), turned, height + 2e-4, body));
  const std::vector<double> speed = curve(result, 0, 0);
  return (speed[39] - speed[19]) / 0.2;
}

class Coulomb : public ::testing::TestWithParam<std::string> {};

TEST_P(Coulomb, SlidingBeginsAtTheAngleOfFriction) {
  EXPECT_NEAR(acceleration(GetParam(), 0.98), 0, 1e-3 * g);
  for (const double ratio : {1.02, 1.5}) {
    const double alpha = std::atan(0.3 * ratio), expected = g * (std::sin(alpha) - 0.3 * std::cos(alpha));
    EXPECT_NEAR(acceleration(GetParam(), ratio), expected, 0.01 * expected) << ratio;
  }
}

INSTANTIATE_TEST_SUITE_P(Defaults, Coulomb,
                         ::testing::Values("volume", "affine", "shell", "rod", "particles"),
                         [](const auto& test) { return test.param; });

TEST(Defaults, ABallRollsDownASlopeWithFiveSeventhsOfSliding) {
  // A mesh of this many facets; α = 10°.
  const double alpha = std::numbers::pi / 18;
  const History result = run(fmt::format(
      R"({{"version": 1, "time": {{"dt": 0.005, "steps": 80}}, "gravity": [{}, {}, 0],
          "bodies": [{{"type": "half_space", "name": "floor"}},
                     {{"type": "affine", "name": "ball", "mesh": {{"generator": "sphere", "radius": 0.1, "resolution": 24}},
                       "transform": {{"translate": [0, 0.1002, 0]}}}}],
          "contact": {{"friction_coefficient": 0.5}},
          "probes": [{{"name": "speed", "type": "velocity", "body": "ball"}}]}})",
      g * std::sin(alpha), -g * std::cos(alpha)));
  const std::vector<double> speed = curve(result, 0, 0);
  const double expected = 5.0 / 7 * g * std::sin(alpha);
  EXPECT_NEAR((speed[79] - speed[19]) / 0.3, expected, 0.02 * expected);
}

TEST(Defaults, ARopePulledOverAPostHoldsAsTheCapstanEquationSays) {
  // Half a turn around a post of 5 cm, 1 N at one end, the other pulled at 5 cm/s.
  const double radius = 0.05 + 1e-3 + 2e-4, spacing = std::numbers::pi * radius / 48;
  std::string points, segments;
  for (int i = 0; i <= 108; ++i) {
    const double angle = std::numbers::pi * (1 - std::clamp(i - 30, 0, 48) / 48.0);
    const double below = spacing * std::max({30 - i, i - 78, 0});
    points += fmt::format("{}[{}, {}, 0]", i > 0 ? ", " : "", radius * std::cos(angle),
                          radius * std::sin(angle) - below);
    if (i > 0) segments += fmt::format("{}[{}, {}]", i > 1 ? ", " : "", i - 1, i);
  }
  const History result = run(fmt::format(
      R"({{"version": 1, "time": {{"dt": 0.02, "steps": 40}}, "gravity": [0, 0, 0], "bodies": [
      {{"type": "rod", "name": "rope", "mesh": {{"points": [{}], "segments": [{}]}},
        "material": {{"E": 1e8, "rho": 1000, "radius": 1e-3}},
        "fixed": [{{"where": {{"expression": "(x > 0) * (y < {}) > 0"}}, "motion": {{"translate": [0, "-0.05*t", 0]}}}}],
        "loads": [{{"type": "point_force", "where": {{"expression": "(x < 0) * (y < {}) > 0"}}, "force": [0, -1, 0]}}]}},
      {{"type": "obstacle", "name": "post", "transform": {{"rotate": [90, 0, 0]}},
        "mesh": {{"generator": "cylinder", "radius": 0.05, "length": 0.05, "resolution": 14, "length_cells": 4}}}}],
    "contact": {{"friction_coefficient": 0.2}}, "probes": [{{"name": "pull", "type": "reaction", "body": "rope"}}]}})",
      points, segments, -29.5 * spacing, -29.5 * spacing));
  const std::vector<double> pull = curve(result, 0, 1);
  const double expected = std::exp(0.2 * std::numbers::pi);
  for (std::size_t i = 10; i < pull.size(); ++i)
    EXPECT_NEAR(-pull[i], expected, 0.025 * expected) << "step " << i + 1;
}

// ---- Rods ---------------------------------------------------------------------------------------

TEST(Defaults, AColumnGivesWayAsTheLoadComesNearToEulers) {
  // Clamped below (halfway between two held nodes), loaded above with P and, to one side, Q = P/100: the tip
  // goes by Q/P (tan(kL)/k − L), k² = P/EI, which has no bound as P comes to π² EI/4L².
  const double length = 0.9875, rigidity = 2e9 * std::numbers::pi * 1e-8 / 4;
  const double critical = std::numbers::pi * std::numbers::pi * rigidity / (4 * length * length);
  for (const double share : {0.5, 0.8}) {
    const double load = share * critical, k = std::sqrt(load / rigidity);
    const History result = run(fmt::format(
        R"({{"version": 1, "time": {{"dt": 0.1, "steps": 2, "integrator": "quasi_static"}}, "gravity": [0, 0, 0],
            "bodies": [{{"type": "rod", "name": "rod",
              "mesh": {{"generator": "bundle", "counts": [1, 1], "length": 1, "cells": 40}},
              "material": {{"E": 2e9, "rho": 1000, "radius": 0.01}},
              "fixed": [{{"where": {{"expression": "y < -0.4749"}}}}],
              "loads": [{{"type": "point_force", "where": {{"expression": "y > 0.4999"}}, "force": [{}, {}, 0]}}]}}],
            "probes": [{{"name": "tip", "type": "position", "body": "rod", "where": {{"expression": "y > 0.4999"}}}}]}})",
        1e-2 * load, -load));
    const double expected = 1e-2 * (std::tan(k * length) / k - length);
    EXPECT_NEAR(result.probes.back()[0][0], expected, 0.03 * expected) << share;
  }
}

TEST(Defaults, ARopeHangsAsACatenary) {
  // One metre between ends 0.8 m apart: sag a (cosh(0.4/a) − 1) with 2 a sinh(0.4/a) = 1.
  const History result =
      run(R"json({"version": 1, "time": {"dt": 0.02, "steps": 150}, "bodies": [{"type": "rod",
     "name": "rope", "mesh": {"generator": "bundle", "counts": [1, 1], "length": 1, "cells": 50},
     "transform": {"rotate": [0, 0, 90]}, "damping": {"mass": 4},
     "material": {"E": 1e9, "rho": 1000, "radius": 1e-3, "bending_scale": 1e-5},
     "fixed": [{"where": {"expression": "x < -0.4999"}, "motion": {"translate": ["0.1*min(t, 1)", 0, 0]}},
               {"where": {"expression": "x > 0.4999"}, "motion": {"translate": ["-0.1*min(t, 1)", 0, 0]}}]}],
     "probes": [{"name": "middle", "type": "position", "body": "rope", "where": {"expression": "x*x < 1e-8"}}]})json");
  double low = 0.1, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double a = 0.5 * (low + high);
    (2 * a * std::sinh(0.4 / a) > 1 ? low : high) = a;
  }
  const double sag = low * (std::cosh(0.4 / low) - 1);
  EXPECT_NEAR(-result.probes.back()[0][1], sag, 0.01 * sag);
}

// ---- The scene around does not matter -----------------------------------------------------------

TEST(Defaults, ALargeGroundDoesNotTearASmallBall) {
  const History result = run(R"({"version": 1, "time": {"dt": 0.01, "steps": 10}, "bodies": [
     {"type": "obstacle", "name": "ground", "mesh": {"generator": "grid", "size": [100, 100], "cells": [4, 4]}},
     {"type": "volume", "name": "ball", "mesh": {"generator": "sphere", "radius": 0.05},
      "transform": {"translate": [1, 5, 1]}, "material": {"type": "neo_hookean", "E": 1e5}}],
     "probes": [{"name": "speed", "type": "velocity", "body": "ball"}]})");
  EXPECT_LT(result.steps.back().max_strain, 1e-6);
  EXPECT_EQ(result.steps.back().contacts, 0) << "a surface does not touch itself at rest";
  EXPECT_NEAR(result.probes.back()[0][1], -g * 0.1, 1e-6);
}

TEST(Defaults, ACantileverInALargeHallSagsAsElsewhere) {
  // A rod of 1 m, thin enough to sag by w L⁴/(8 E I): small against its length.
  const auto sag = [](const std::string& hall) {
    const History result = run(
        R"({"version": 1, "time": {"dt": 0.1, "steps": 2, "integrator": "quasi_static"}, "bodies": [
       )" +
        hall +
        R"({"type": "rod", "name": "rod", "mesh": {"generator": "bundle", "counts": [1, 1], "length": 1, "cells": 40},
        "transform": {"rotate": [0, 0, 90]}, "material": {"E": 2e9, "rho": 1000, "radius": 0.01},
        "fixed": [{"where": {"expression": "x > 0.4749"}}]}],
       "probes": [{"name": "tip", "type": "position", "body": "rod", "where": {"expression": "x < -0.4999"}}]})");
    return -result.probes.back()[0][1];
  };
  // Held at two nodes, 25 mm apart: the first that bends stands for half of the segments at either side of
  // it.
  const double inertia = std::numbers::pi * 1e-8 / 4, load = 1000 * g * std::numbers::pi * 1e-4;
  const double expected = load * std::pow(0.9875, 4) / (8 * 2e9 * inertia);
  const double alone = sag("");
  EXPECT_NEAR(alone, expected, 0.02 * expected);
  EXPECT_NEAR(sag(R"({"type": "obstacle", "mesh": {"generator": "grid", "size": [100, 100], "cells": [2, 2]},
                      "transform": {"translate": [0, -5, 0]}},)"),
              alone, 1e-3 * alone);
}

TEST(Defaults, ABoxOnALargeSlopeDoesNotFloat) {
  const History result = run(R"({"version": 1, "time": {"dt": 0.01, "steps": 60}, "bodies": [
     {"type": "obstacle", "name": "slope", "mesh": {"generator": "grid", "size": [100, 100], "cells": [1, 1]}},
     {"type": "volume", "name": "box", "mesh": {"generator": "box", "size": [0.3, 0.3, 0.3], "cells": 2},
      "transform": {"translate": [7, 0.16, 3]}, "material": {"type": "neo_hookean", "E": 1e6}}],
     "contact": {"friction_coefficient": 0.5},
     "probes": [{"name": "gap", "type": "gap", "bodies": ["box", "slope"]},
                {"name": "weight", "type": "contact", "bodies": ["box", "slope"]}]})");
  EXPECT_LT(result.probes.back()[0][0], 2e-3 * 0.3);
  const double weight = 1000 * 0.027 * g;
  EXPECT_NEAR(result.probes.back()[1][1], weight, 5e-3 * weight);
}

TEST(Defaults, SlowAKnotOfClothIsPulledTightButNotCrushed) {
  const auto knot = std::find_if(examples().begin(), examples().end(),
                                 [](const Example& example) { return example.name == "reef-knot"; });
  const History result = run(std::string(knot->text));
  for (const StepReport& step : result.steps) {
    EXPECT_LT(step.max_strain, 0.7) << step.step;
    EXPECT_GT(step.min_gap, 1e-6) << step.step;
  }
}

TEST(Defaults, StiffnessOfContactStaysAtRest) {
  const History result = run(R"({"version": 1, "time": {"dt": 0.01, "steps": 100}, "bodies": [
     {"type": "half_space", "name": "floor"},
     {"type": "volume", "name": "box", "mesh": {"generator": "box", "size": [0.2, 0.2, 0.2], "cells": 2},
      "transform": {"translate": [0, 0.12, 0]}, "material": {"type": "neo_hookean", "E": 1e6},
      "array": {"counts": [1, 3, 1], "spacing": [0, 0.22, 0]}}]})");
  for (std::size_t i = 70; i < result.steps.size(); ++i) {
    EXPECT_EQ(result.steps[i].barrier_stiffness, result.steps[i - 1].barrier_stiffness) << "step " << i + 1;
    EXPECT_NEAR(result.steps[i].contacts, result.steps[i - 1].contacts, 0.03 * result.steps[i].contacts)
        << "step " << i + 1;
  }
  EXPECT_GT(result.steps.back().gap_share, 0.2);
  EXPECT_LT(result.steps.back().gap_share, 0.95);
}

}  // namespace
}  // namespace apart::test
