#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

namespace apart::test {
namespace {

/// How far a stiff block slides in `seconds` on a slope of tangent 0.5. [thesis 2.7.3]
double slide(double mu, bool mesh_slope, double seconds) {
  SmallScene scene;
  scene.options.dt = 0.025;
  scene.contact = {true, mu, 1e-3, 0};
  scene.options.contact.epsv = 1e-5;
  scene.options.contact.friction_iterations = 0;
  scene.options.solver.tolerance = 1e-6;
  const double angle = std::atan(0.5);
  const Vector3 normal(-std::sin(angle), std::cos(angle), 0);
  const Mesh block =
      turned(moved(generate::box({0.3, 0.1, 0.3}, {1, 1, 1}), {0, 0.0509, 0}), Vector3::UnitZ(), angle);
  scene.bodies.push_back(make_volume("block", block, soft(1e8), 1000, MassKind::lumped));
  // The block lies on one triangle: a mesh edge under and along an edge of the block pushes it aside while
  // the two are within d̂ of each other, and on a critical slope the least push is never undone.
  if (mesh_slope)
    scene.bodies.push_back(make_obstacle(
        "slope", turned(moved(generate::grid(4, 4, 1, 1), {0.8, 0, 0}), Vector3::UnitZ(), angle)));
  else
    scene.bodies.push_back(make_half_space("slope", Vector3::Zero(), normal));
  auto s = scene.simulation();
  const Vector3 start = centre_of_mass(*s, 0);
  for (int step = 0; step < int(seconds / scene.options.dt); ++step) s->step();
  const Vector3 down(-std::cos(angle), -std::sin(angle), 0);
  return (centre_of_mass(*s, 0) - start).dot(down);
}

TEST(Slope, of_tangent_half_holds_a_block_at_mu_half) {
  for (const bool mesh : {false, true}) EXPECT_LT(std::abs(slide(0.5, mesh, 1.0)), 1e-3) << "mesh " << mesh;
}

TEST(Slope, of_tangent_half_lets_a_block_slide_below_mu_half) {
  // a = g (sin θ − μ cos θ): at μ = 0.49 the block slides ½ a t² = 0.0439 m in 1 s.
  const double angle = std::atan(0.5), a = 9.81 * (std::sin(angle) - 0.49 * std::cos(angle));
  for (const bool mesh : {false, true})
    EXPECT_NEAR(slide(0.49, mesh, 1.0), 0.5 * a, 0.1 * 0.5 * a) << "mesh " << mesh;
}

}  // namespace
}  // namespace apart::test
