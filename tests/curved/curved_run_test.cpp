// Runs with bodies that turn fast: every recorded path is proven, by the code that verify uses.
#include <apart/geometry/generators.hpp>
#include <apart/verify/frame_check.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

#include <numbers>

namespace apart::test {
namespace {

const Vector3 blade_size{0.4, 0.01, 0.04};

/// Thin things in the way of a blade that turns about z.
Body thin_sheet() {
  const Mesh upright = turned(generate::grid(0.04, 0.04, 3, 3), Vector3::UnitX(), 0.5 * std::numbers::pi);
  return make_shell("sheet", moved(upright, {0.1, 0.12, 0}), cotton(0.1));
}
Body thin_post() {
  const Mesh mesh = moved(generate::box({0.005, 0.005, 0.2}, {1, 1, 1}), {0.1, 0.12, 0});
  return make_rigid("post", mesh, mass_distribution(mesh, 1000));
}
double angle_of(const Vector3& x) {
  return std::atan2(x[1], x[0]);
}

/// Runs some steps and proves the way from each recorded state to the next. Returns how many there were.
std::size_t run_proven(Simulation& s, int steps) {
  const Frame first = s.frame();
  const verify::FrameCheck check(first);
  std::vector<Matrix3X> states = {first.mesh.points};
  s.on_iterate = [&](const Matrix3X& x) { states.push_back(x); };
  for (int step = 0; step < steps; ++step) s.step();
  states.push_back(s.frame().mesh.points);
  for (std::size_t k = 1; k < states.size(); ++k)
    for (const verify::Finding& f : check.path(states[k - 1], states[k]).findings)
      ADD_FAILURE() << "way " << k << " of " << states.size() - 1 << ": " << f.text;
  return states.size();
}

TEST(CurvedRuns, AScriptedBladeHitsThinThingsHoweverFastItTurns) {
  for (const double turns : {0.3, 1.0, 5.0})  // in a step
    for (const bool sheet : {true, false}) {
      SCOPED_TRACE(fmt::format("{} turns in a step, {}", turns, sheet ? "sheet" : "post"));
      SmallScene scene;
      scene.options.gravity = Vector3::Zero();
      scene.options.solver.tolerance = 1e-2;
      const double spin = 2 * std::numbers::pi * turns / scene.options.dt;
      const Motion turning = rigid_motion([spin](double t) {
        return Pose{.rotation = Eigen::AngleAxisd(spin * t, Vector3::UnitZ()).toRotationMatrix()};
      });
      scene.bodies = {
          make_obstacle("blade", generate::box(blade_size, {1, 1, 1}, generate::Content::surface), turning),
          sheet ? thin_sheet() : thin_post()};
      auto s = scene.simulation();
      run_proven(*s, 1);
      // The blade's speed where it meets them, or more.
      const double mass = total_mass(scene.bodies[1]);
      EXPECT_GT(linear_momentum(*s).norm(), 0.5 * mass * spin * 0.15) << "it was hit";
    }
}

TEST(CurvedRuns, ARigidBladeIsProvenNotToPassThroughThinThings) {
  for (const double degrees : {40.0, 300.0, 5.7e5})  // in a step
    for (const bool conserve : {false, true}) {
      SCOPED_TRACE(fmt::format("{} degrees in a step{}", degrees, conserve ? ", spin conserved" : ""));
      SmallScene scene;
      scene.options.gravity = Vector3::Zero();
      scene.options.solver.tolerance = 1e-2;
      scene.options.integrator.conserves_spin = conserve;
      const Mesh mesh = generate::box(blade_size, {1, 1, 1});
      Body blade = make_rigid("blade", mesh, mass_distribution(mesh, 5000));
      set_rigid_velocity(blade, Vector3::Zero(), {0, 0, degrees * std::numbers::pi / 180 / scene.options.dt});
      scene.bodies = {blade, thin_post()};
      auto s = scene.simulation();
      run_proven(*s, 4);
    }
}

/// Between two states without intersection a blade has been turned through a post that stays where it is.
TEST(CurvedRuns, ABladeThatWasTurnedThroughAPostIsCaught) {
  SmallScene scene;
  const Mesh mesh = generate::box(blade_size, {1, 1, 1});
  scene.bodies = {make_rigid("blade", mesh, mass_distribution(mesh, 5000)), thin_post()};
  auto s = scene.simulation();
  const Frame first = s->frame();
  const verify::FrameCheck check(first);
  const auto turned_by = [&](double angle) {
    Matrix3X x = first.mesh.points;
    const Index n = mesh.point_count();
    x.leftCols(n) = Eigen::AngleAxisd(angle, Vector3::UnitZ()).toRotationMatrix() * x.leftCols(n);
    return x;
  };
  const double post = angle_of({0.1, 0.12, 0});
  for (const double step : {0.1, 0.3}) {
    EXPECT_TRUE(check.intersections(turned_by(post + step)).empty());
    EXPECT_TRUE(check.path(turned_by(0), turned_by(post - step)).findings.empty());
    EXPECT_FALSE(check.path(turned_by(post - step), turned_by(post + step)).findings.empty());
  }
}

}  // namespace
}  // namespace apart::test
