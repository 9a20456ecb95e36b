// Contact weighted by area: pressures and forces of contact mechanics, whatever the meshes.
#include <apart/geometry/generators.hpp>
#include <apart/io/frame.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <cmath>

namespace apart::test {
namespace {

SmallScene pressing_scene(ContactFormulation formulation, double dhat) {
  SmallScene scene;
  scene.options.integrator.scheme = Integrator::quasi_static;
  scene.options.gravity.setZero();
  scene.options.contact.formulation = formulation;
  scene.contact.dhat = dhat;
  return scene;
}

/// Moves points straight along y, by `amount` [m] in the first second.
Motion along_y(double amount) {
  return rigid_motion([amount](double time) {
    Pose pose;
    pose.translation.y() = amount * std::min(time, 1.0);
    return pose;
  });
}

/// Two blocks of unit height and width, meshed with different numbers of cells, one pressed on the other
/// between frictionless plates. Both have ν = 0, so stress is the same everywhere.
struct PressedBlocks {
  double mean = 0;    ///< of the von Mises stress [Pa]
  double spread = 0;  ///< largest deviation of a cell's stress from the mean, as a share of it
  double force = 0;   ///< through the contact [N]
  double strain = 0;  ///< that the plates leave, with the gap that contact keeps
};
PressedBlocks press_blocks(ContactFormulation formulation, int below, int above) {
  const double dhat = 2e-3;
  SmallScene scene = pressing_scene(formulation, dhat);
  const auto block = [&](const char* name, int n, double y) {
    return make_volume(name, moved(generate::box({1, 1, 1}, {n, n, n}), {0, y, 0}), soft(1e6, 0), 1000,
                       MassKind::lumped);
  };
  scene.bodies.push_back(block("below", below, 0.5));
  scene.bodies.push_back(block("above", above, 1.5 + 0.9 * dhat));
  const auto bottom = points_where(scene.bodies[0], [](const Vector3&x) { return x[1] < 1e-9; }),
             top = points_where(scene.bodies[1], [](const Vector3&x) { return x[1] > 1.9; });
  add_script(scene.bodies[0], &bottom, {true, true, true}, {});
  add_script(scene.bodies[1], &top, {true, true, true}, along_y(-0.02));
  scene.options.dt = 0.5;
  auto s = scene.simulation();
  s->step();
  const double gap = s->step().gap_share * dhat;
  const VectorX stress = s->frame().von_mises;
  PressedBlocks result;
  result.mean = stress.mean();
  result.spread = (stress.array() - result.mean).abs().maxCoeff() / result.mean;
  result.force = s->measure({"", Probe::Kind::contact, {1}, {0}, {}})[1];
  result.strain = (0.02 - 0.9 * dhat + gap) / 2;
  return result;
}

TEST(ConvergentContact, PassesThePatchTestThroughBlocksWithDifferentMeshes) {
  const PressedBlocks equal = press_blocks(ContactFormulation::convergent, 3, 3),
                      finer = press_blocks(ContactFormulation::convergent, 3, 4);
  for (const PressedBlocks& p : {equal, finer}) {
    EXPECT_NEAR(p.mean, 1e6 * p.strain, 0.03e6 * p.strain);
    EXPECT_NEAR(p.force, p.mean, 0.02 * p.mean) << "on one square metre";
    EXPECT_LT(p.spread, 0.1);
  }
  EXPECT_NEAR(finer.force, equal.force, 0.02 * equal.force);
}

/// A ball of radius 0.1 m pressed between two plates, each of which approaches its centre by `approach` [m].
struct Hertz {
  double force = 0;     ///< [N]
  double approach = 0;  ///< of the plates' surface, which contact keeps away, to the centre [m]
  double radius = 0;    ///< of the contact, from the mean squared distance of forces from the axis [m]
};
std::vector<Hertz> press_ball(ContactFormulation formulation, int layers,
                              const std::vector<double>& approaches) {
  const double R = 0.1, dhat = 2e-4;
  SmallScene scene = pressing_scene(formulation, dhat);
  scene.bodies.push_back(
      make_volume("ball", generate::sphere(R, layers), soft(1e6, 0.3), 1000, MassKind::lumped));
  const auto towards = [&](double sign) {
    return rigid_motion([=](double time) {
      const double step = std::min(time * double(approaches.size()), double(approaches.size()));
      const int whole = std::min(int(step), int(approaches.size()) - 1);
      const double from = whole > 0 ? approaches[std::size_t(whole) - 1] : 0.0;
      Pose pose;
      pose.translation.y() = sign * (from + (step - whole) * (approaches[std::size_t(whole)] - from));
      return pose;
    });
  };
  scene.bodies.push_back(make_half_space("floor", {0, -R - dhat, 0}, Vector3::UnitY(), towards(1)));
  scene.bodies.push_back(make_half_space("lid", {0, R + dhat, 0}, -Vector3::UnitY(), towards(-1)));
  scene.options.dt = 1.0 / double(approaches.size());
  auto s = scene.simulation();
  std::vector<Hertz> result;
  for (const double approach : approaches) {
    const StepReport report = s->step();
    const Frame frame = s->frame();
    Hertz h;
    double moment = 0;
    for (Index p = 0; p < s->model().first_point[1]; ++p) {
      const double f = frame.contact_force(1, p);
      if (f <= 0) continue;
      h.force += f;
      moment += f * (frame.mesh.points(0, p) * frame.mesh.points(0, p) +
                     frame.mesh.points(2, p) * frame.mesh.points(2, p));
    }
    // Of the pressure (1 − r²/a²)^½ the mean of r² is 2a²/5.
    h.radius = std::sqrt(2.5 * moment / h.force);
    h.approach = approach - dhat + report.gap_share * dhat;
    result.push_back(h);
  }
  return result;
}

double hertz_force(double approach) {  // F = 4/3 E* √R δ^1.5
  return 4.0 / 3 * 1e6 / (1 - 0.09) * std::sqrt(0.1) * std::pow(approach, 1.5);
}

TEST(ConvergentContact, ABallIsPressedFlatAsHertzSays) {
  const std::vector<Hertz> h = press_ball(ContactFormulation::convergent, 6, {4e-3, 8e-3});
  const double exponent = std::log(h[1].force / h[0].force) / std::log(h[1].approach / h[0].approach);
  EXPECT_NEAR(exponent, 1.5, 0.15);
  EXPECT_NEAR(h[1].force / hertz_force(h[1].approach), 1, 0.2);
  EXPECT_NEAR(h[1].radius / std::sqrt(0.1 * h[1].approach), 1, 0.15);
}

}  // namespace
}  // namespace apart::test
