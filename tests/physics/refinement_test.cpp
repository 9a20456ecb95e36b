// Accuracies of contact, friction and solver: results converge as each is refined; and a bar that bends as
// beam theory says.
#include <apart/geometry/generators.hpp>
#include <apart/potentials/grip.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

namespace apart::test {
namespace {

/// A soft ball falls on the ground, with friction, and slides; where its nodes are 0.3 s later.
Matrix3X fallen_ball(double dhat, double tolerance, double epsv) {
  SmallScene scene;
  scene.options.solver.termination = Termination::published;  // the tolerance alone decides
  scene.contact = {true, 0.3, dhat, 0};
  scene.options.solver.tolerance = tolerance;
  scene.contact.epsv = epsv;
  scene.options.contact.barrier_stiffness = 1e4;  // the same energy at every level
  scene.bodies.push_back(
      make_volume("ball", moved(generate::sphere(0.1, 2), {0, 0.15, 0}), soft(1e5), 1000, MassKind::lumped));
  set_rigid_velocity(scene.bodies[0], {0.5, 0, 0}, Vector3::Zero());
  scene.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  auto s = scene.simulation();
  for (int step = 0; step < 30; ++step) s->step();
  return s->state().nodes;
}

double distance(const Matrix3X& a, const Matrix3X& b) {
  return (a - b).cwiseAbs().maxCoeff();
}

TEST(Refinement, OfTheContactDistanceConverges) {
  const Matrix3X a = fallen_ball(4e-3, 1e-7, 1e-3), b = fallen_ball(2e-3, 1e-7, 1e-3),
                 c = fallen_ball(1e-3, 1e-7, 1e-3);
  EXPECT_LT(distance(a, b), 8e-3);
  EXPECT_LT(distance(b, c), 0.5 * distance(a, b)) << "at least first order; measured: 0.31";
}

TEST(Refinement, OfTheSolverToleranceConverges) {
  const Matrix3X exact = fallen_ball(2e-3, 1e-10, 1e-3);
  const double coarse = distance(fallen_ball(2e-3, 1e-1, 1e-3), exact),
               middle = distance(fallen_ball(2e-3, 1e-2, 1e-3), exact),
               fine = distance(fallen_ball(2e-3, 1e-3, 1e-3), exact);
  EXPECT_LT(middle, 0.5 * coarse);
  EXPECT_LT(fine, 0.5 * middle);
  EXPECT_LT(fine, 0.3 * 1e-3) << "no more than the tolerance times the simulated time";
}

TEST(Refinement, OfTheStictionSpeedConverges) {
  const Matrix3X a = fallen_ball(2e-3, 1e-7, 1e-1), b = fallen_ball(2e-3, 1e-7, 1e-2),
                 c = fallen_ball(2e-3, 1e-7, 1e-3);
  EXPECT_LT(distance(b, c), 0.3 * distance(a, b));
}

TEST(Refinement, OfTheStictionSpeedMakesContactsStifferAsComputedAndNothingCreeps) {
  // Friction balances the slope at μ (2y − y²) = tan θ [thesis eq. 2.14]: the strain y of all contacts, of
  // which the displacement is y ε_v dt.
  constexpr double mu = 0.5, tangent = 0.3;
  const double strain = 1 - std::sqrt(1 - tangent / mu), angle = std::atan(tangent);
  for (const double epsv : {1e-2, 1e-3, 1e-4}) {
    SmallScene scene;
    scene.contact.friction = mu;
    scene.options.solver.tolerance = 1e-3 * epsv;
    scene.contact.epsv = epsv;
    scene.options.gravity = 9.81 * Vector3(std::sin(angle), -std::cos(angle), 0);
    scene.bodies.push_back(make_affine(
        "block", moved(generate::box({0.2, 0.1, 0.2}, {1, 1, 1}), {0, 0.0508, 0}), Orthogonality{1e8}, 1000));
    scene.bodies.push_back(make_half_space("slope", Vector3::Zero(), Vector3::UnitY()));
    auto s = scene.simulation();
    for (int step = 0; step < 40; ++step) s->step();
    const double start = centre_of_mass(*s, 0)[0];
    for (int step = 0; step < 40; ++step) s->step();
    EXPECT_NEAR(centre_of_mass(*s, 0)[0], start, 1e-9 * epsv) << "stays where it is";
    EXPECT_NEAR(s->state().friction.row(0).sum(), -4 * 9.81 * std::sin(angle), 1e-3 * 4 * 9.81);
    const VectorX& grips = s->state().grips;
    ASSERT_EQ(grips.size(), 4 * Grips::numbers_each) << "of the four corners";
    double sum = 0;  // each has borne a little more or less while the block landed
    for (Index k = 0; k < 4; ++k) sum += grips[k * Grips::numbers_each + 7];
    EXPECT_NEAR(sum / 4, strain, 1e-2 * strain) << "ε_v " << epsv;
  }
}

/// Deflection of the end of a bar clamped at the other, under its own weight [m].
double cantilever(int n, double E) {
  SmallScene scene;
  scene.options.integrator.scheme = Integrator::quasi_static;
  scene.options.solver.tolerance = 1e-8;
  scene.bodies.push_back(
      make_volume("bar", generate::box({1, 0.1, 0.1}, {10 * n, n, n}), soft(E, 0), 1000, MassKind::lumped));
  const auto clamped = points_where(scene.bodies[0], [](const Vector3&x) { return x[0] < -0.4999; }),
             end = points_where(scene.bodies[0], [](const Vector3&x) { return x[0] > 0.4999; });
  add_script(scene.bodies[0], &clamped, {true, true, true}, {});
  auto s = scene.simulation();
  s->step();
  double deflection = 0;
  for (const Index p : end)
    deflection += (s->model().initial_nodes(1, p) - s->state().nodes(1, p)) / double(end.size());
  return deflection;
}

TEST(Beam, BendsUnderItsWeightAsEulerAndBernoulliSay) {
  // w = ρ g A L⁴ / 8 E I, I = b⁴ / 12; shear adds 0.8 (b/L)² of it. Linear elements are too stiff by a
  // multiple of the square of their size.
  const double E = 1e8, L = 1, b = 0.1, w = 1000 * 9.81 * 12 * std::pow(L, 4) / (8 * E * b * b) * 1.008;
  const double coarse = cantilever(2, E), middle = cantilever(4, E), fine = cantilever(8, E);
  EXPECT_LT(coarse, middle);
  EXPECT_LT(middle, fine);
  EXPECT_LT(fine, w);
  EXPECT_GT(fine, 0.95 * w);  // eight elements across; measured: 0.966
  // Stiffness, not deflection, is what converges with the square from the start.
  EXPECT_NEAR(1 / (4 / (3 * fine) - 1 / (3 * middle)), w, 0.002 * w) << "extrapolated";
  EXPECT_GT((w - middle) / (w - fine), 2.5) << "nearly second order";
}

}  // namespace
}  // namespace apart::test
