// Structures that friction alone holds up: they stand where statics says so and fall where it does not.
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

namespace apart::test {
namespace {

/// How far the crown of a half-circular arch of stones has sunk after `seconds` [m]; its mean radius is
/// 11.25 m.
double crown_sinks(double mu, double seconds) {
  constexpr int stones = 13;
  constexpr double gap = 0.002;  // [degrees]: 0.4 mm, within d̂
  SmallScene scene;
  scene.contact = {true, mu, 1e-3, 0};
  scene.options.solver.tolerance = 1e-4;
  scene.contact.epsv = 1e-4;
  scene.options.contact.friction_iterations = 3;
  for (int i = 0; i < stones; ++i)
    scene.bodies.push_back(
        make_affine("stone" + std::to_string(i),
                    generate::voussoir(
                        {10, 12.5, 4, 180.0 * i / stones + gap, 180.0 * (i + 1) / stones - gap}, {1, 1, 1}),
                    Orthogonality{1e9}, 2300));
  scene.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  auto s = scene.simulation();
  const double start = centre_of_mass(*s, stones / 2)[1];
  for (int step = 0; step < int(seconds / scene.options.dt + 0.5); ++step) EXPECT_TRUE(s->step().converged);
  expect_intersection_free(*s);
  return start - centre_of_mass(*s, stones / 2)[1];
}

// A half-circular arch thicker than 0.11 of its radius (here 0.22) stands by friction 0.395 and more, and
// slides apart below 0.31 however thick it is. [thesis 2.7.3; limit analysis of masonry]
TEST(Arch, StandsByFrictionOneHalf) {
  EXPECT_LT(crown_sinks(0.5, 1.5), 0.01);
}

TEST(Arch, FallsByFrictionOneFifth) {
  EXPECT_GT(crown_sinks(0.2, 0.8), 0.3);
}

/// A house of boards leaning at 75 degrees: two pairs, a ceiling, and a pair on it. Returns how far the upper
/// pair has sunk after `seconds` [m].
double house_sinks(double mu, double seconds) {
  constexpr double length = 0.5, thickness = 0.004, gap = 0.5e-3, apart = 0.55;
  const double angle = 75 * EIGEN_PI / 180, c = std::cos(angle), s = std::sin(angle);
  const double reach = 0.5 * (length * c + thickness * s);   // from a board's centre to its outermost corner
  const double height = 0.5 * (length * s + thickness * c);  // to its highest corner
  SmallScene scene;
  scene.contact = {true, mu, 1e-3, 0};
  scene.options.solver.tolerance = 1e-4;
  scene.contact.epsv = 1e-4;
  scene.options.contact.friction_iterations = 3;
  const auto pair = [&](double x, double floor) {
    for (const double side : {-1.0, 1.0})
      scene.bodies.push_back(make_affine("board",
                                         moved(turned(generate::box({length, thickness, length}, {4, 1, 4}),
                                                      Vector3::UnitZ(), -side * angle),
                                               {x + side * (reach + 0.5 * gap), floor + gap + height, 0}),
                                         Orthogonality{1e8}, 1000));
  };
  pair(-0.5 * apart, 0);
  pair(0.5 * apart, 0);
  const double ceiling = 2 * height + 2 * gap + 0.5 * thickness;
  scene.bodies.push_back(
      make_affine("ceiling", moved(generate::box({0.75, thickness, length}, {4, 1, 4}), {0, ceiling, 0}),
                  Orthogonality{1e8}, 1000));
  pair(0, ceiling + 0.5 * thickness);
  scene.bodies.push_back(make_half_space("table", Vector3::Zero(), Vector3::UnitY()));
  auto simulation = scene.simulation();
  const double start = centre_of_mass(*simulation, 5)[1];
  for (int step = 0; step < int(seconds / scene.options.dt + 0.5); ++step)
    EXPECT_TRUE(simulation->step().converged);
  expect_intersection_free(*simulation);
  return start - centre_of_mass(*simulation, 5)[1];
}

// A board of weight W at angle a that carries P at its upper edge pushes its neighbour with
// (W/2 + P) / tan a; the floor carries W + P. Here P = (2 + 1.5) W / 4: friction needed 0.197 below, and
// 0.134 for the pair above, which carries nothing.
TEST(House, OfLeaningBoardsStandsByFrictionOneFifth) {
  EXPECT_LT(house_sinks(0.2, 2.0), 0.01);
}

TEST(House, OfLeaningBoardsFallsByFrictionOneTenth) {
  EXPECT_GT(house_sinks(0.1, 0.7), 0.05);
}

TEST(Stack, OfFiveCubesStaysStackedForFiveSeconds) {
  // A column of side 1 m buckles under its own weight from (7.84 E / 12 ρ g)^⅓ m: 8.7 m for 1e7 Pa.
  SmallScene scene;
  scene.options.dt = 0.025;
  scene.options.solver.tolerance = 1e-3;
  scene.contact = {true, 0.2, 5e-3, 0};
  for (int i = 0; i < 5; ++i)
    scene.bodies.push_back(make_volume("cube" + std::to_string(i),
                                       moved(generate::box({1, 1, 1}, {2, 2, 2}), {0, 0.51 + 1.01 * i, 0}),
                                       soft(1e7), 1000, MassKind::lumped));
  scene.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  auto s = scene.simulation();
  std::array<double, 5> fastest{};  // in each second [m/s], the root of the mean square over the mass
  for (int step = 0; step < 200; ++step) {
    double& speed = fastest[std::size_t(step / 40)];
    speed = std::max(speed, std::sqrt(2 * s->step().kinetic_energy / 5000));
  }
  expect_intersection_free(*s);
  for (int i = 0; i < 5; ++i) {
    const Vector3 c = centre_of_mass(*s, i);
    // Pressed together by what is above and apart by the gaps, 5 mm at most: measured 1 mm lower at the
    // bottom, 6 mm higher at the top. Sideways 4 mm at most.
    EXPECT_NEAR(c[1], 0.5 + i, 0.01) << "cube " << i;
    EXPECT_LT(std::hypot(c[0], c[2]), 0.006) << "cube " << i;
  }
  // Nothing slides: the column sways as a beam would since it has landed, and implicit Euler damps that.
  for (std::size_t k = 2; k < 5; ++k) EXPECT_LT(fastest[k], 0.9 * fastest[k - 1]) << "second " << k;
  EXPECT_LT(fastest[4], 5e-3);
}

/// A rod that stands on the ground by its weight is drawn along by its top, slower than it can slip.
TEST(StickSlip, OfARodDrawnOverATableIsPeriodic) {
  SmallScene scene;
  scene.options.dt = 0.005;
  scene.options.solver.tolerance = 1e-4;
  scene.contact.friction = 0.5;
  scene.contact.kinetic_friction = 0.25;
  constexpr double drive = 0.05;  // [m/s]; above some speed, which damping decides, it slides evenly
  scene.bodies.push_back(make_volume("rod",
                                     moved(generate::box({0.03, 0.3, 0.03}, {2, 10, 2}), {0, 0.1505, 0}),
                                     soft(1e7, 0.3), 1000, MassKind::lumped));
  const std::vector<Index> top = points_where(scene.bodies[0], [](const Vector3&x) { return x[1] > 0.26; }),
                           tip = points_where(scene.bodies[0], [](const Vector3&x) { return x[1] < 0.001; });
  add_script(scene.bodies[0], &top, {true, false, true}, rigid_motion([](double t) {
               Pose p;
               p.translation = {drive * t, 0, 0};
               return p;
             }));
  scene.bodies.push_back(make_half_space("table", Vector3::Zero(), Vector3::UnitY()));
  auto s = scene.simulation();
  std::vector<double> slips;  // [s] when each begins
  bool sticks = true;
  int sticking_steps = 0;
  for (int step = 0; step < 300; ++step) {
    s->step();
    double speed = 0;
    for (const Index p : tip) speed += s->state().velocity(0, p) / double(tip.size());
    sticking_steps += std::abs(speed) < 0.05 * drive;
    if (sticks && speed > drive) {
      slips.push_back(s->state().time);
      sticks = false;
    } else if (speed < 0.05 * drive) {
      sticks = true;
    }
  }
  ASSERT_GT(slips.size(), 4u);
  EXPECT_GT(sticking_steps, 75) << "it sticks for a good part of the time";
  double shortest = 1e9, longest = 0;
  for (std::size_t i = 2; i < slips.size(); ++i) {  // the first starts from a straight rod
    shortest = std::min(shortest, slips[i] - slips[i - 1]);
    longest = std::max(longest, slips[i] - slips[i - 1]);
  }
  EXPECT_LE(longest - shortest, 1.001 * scene.options.dt) << "the same number of steps, or one more";
}

}  // namespace
}  // namespace apart::test
