// Each time integrator has its order, and quasi-static steps balance forces.
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

namespace apart::test {
namespace {

/// A bar held at one end, swinging in its own elasticity and in gravity: smooth, no contact.
std::unique_ptr<Simulation> swinging_bar(IntegratorOptions integrator, double dt, MassKind mass) {
  SmallScene scene;
  scene.options.dt = dt;
  scene.options.integrator = integrator;
  scene.options.solver.tolerance = 1e-10;
  scene.bodies.push_back(
      make_volume("bar", generate::box({0.4, 0.1, 0.1}, {3, 1, 1}), soft(2e4, 0.3), 1000, mass));
  std::vector<Index> left;
  for (Index p = 0; p < scene.bodies[0].mesh.point_count(); ++p)
    if (scene.bodies[0].mesh.points(0, p) < -0.19) left.push_back(p);
  add_script(scene.bodies[0], &left, {true, true, true}, {});
  return scene.simulation();
}

Matrix3X after(double time, IntegratorOptions integrator, double dt, MassKind mass) {
  auto s = swinging_bar(integrator, dt, mass);
  while (s->state().time < time * (1 - 1e-9)) s->step();
  return s->state().nodes;
}

/// Order seen when halving the step: log₂ of the ratio of successive differences.
double observed_order(IntegratorOptions integrator, MassKind mass) {
  constexpr double time = 0.032;
  const Matrix3X coarse = after(time, integrator, 0.0008, mass),
                 middle = after(time, integrator, 0.0004, mass), fine = after(time, integrator, 0.0002, mass);
  return std::log2((coarse - middle).norm() / (middle - fine).norm());
}

TEST(TimeIntegration, HasTheOrderOfItsScheme) {
  for (const MassKind mass : {MassKind::lumped, MassKind::consistent}) {
    EXPECT_NEAR(observed_order({Integrator::implicit_euler}, mass), 1, 0.15);
    EXPECT_NEAR(observed_order({Integrator::bdf2}, mass), 2, 0.15);
    EXPECT_NEAR(observed_order({Integrator::newmark}, mass), 2, 0.15);
    EXPECT_NEAR(observed_order({Integrator::newmark, 0.3025, 0.6}, mass), 1, 0.15);
    EXPECT_NEAR(observed_order({Integrator::generalized_alpha}, mass), 2, 0.15);
  }
}

TEST(TimeIntegration, NewmarkKeepsTheEnergyThatImplicitEulerLoses) {
  const auto energy = [](const StepReport& r) {
    return r.kinetic_energy + r.elastic_energy + r.gravity_energy;
  };
  const auto drift = [&](Integrator scheme) {
    auto s = swinging_bar({scheme}, 0.01, MassKind::lumped);
    double largest = 0, start = 0, deflection = 0;
    for (int step = 1; step <= 150; ++step) {
      const StepReport r = s->step();
      if (step == 1) start = energy(r);
      largest = std::max(largest, std::abs(energy(r) - start));
      deflection = std::max(deflection, r.elastic_energy);
    }
    return largest / deflection;
  };
  EXPECT_LT(drift(Integrator::newmark), 0.03);
  EXPECT_GT(drift(Integrator::implicit_euler), 0.3);
}

TEST(TimeIntegration, FreeFallIsExactForNewmarkAndBdf2GainsAnOrder) {
  for (const auto& [scheme, error] :
       {std::pair(Integrator::newmark, 1e-12), std::pair(Integrator::bdf2, 1e-3)}) {
    SmallScene scene;
    scene.options.integrator.scheme = scheme;
    scene.bodies.push_back(make_volume("ball", generate::sphere(0.1, 2), soft(), 1000, MassKind::lumped));
    scene.bodies.push_back(make_affine("box", moved(generate::box({0.1, 0.2, 0.3}, {1, 1, 1}), {1, 0, 0}),
                                       Orthogonality{1e8}, 500));
    for (Body& b : scene.bodies) set_rigid_velocity(b, {0.3, 1, -2}, Vector3::Zero());
    auto s = scene.simulation();
    for (int step = 0; step < 50; ++step) s->step();
    const Vector3 shift = 0.5 * Vector3(0.3, 1, -2) + 0.125 * scene.options.gravity;
    const Matrix3X expected = s->model().initial_nodes.colwise() + shift;
    EXPECT_LT((s->state().nodes - expected).cwiseAbs().maxCoeff(), error);
  }
}

/// Energy of a stiff body that turns freely, six degrees a step, after 300 steps over that at the start; and
/// the largest gain in the reports, over the same.
std::pair<double, double> turned_energy(Integrator scheme) {
  SmallScene scene;
  scene.options.integrator.scheme = scheme;
  scene.options.gravity.setZero();
  scene.bodies = {make_affine("box", generate::box({0.2, 0.1, 0.05}, {1, 1, 1}), Orthogonality{1e8}, 1000)};
  set_rigid_velocity(scene.bodies[0], Vector3::Zero(), {6, 3, 9});
  auto s = scene.simulation();
  double first = 0, energy = 0, gained = 0, most = 0;
  for (int step = 1; step <= 300; ++step) {
    const StepReport r = s->step();
    energy = r.kinetic_energy + r.elastic_energy;
    if (step == 1)
      first = energy;
    else
      gained = std::max(0.0, gained + r.energy_gain);
    most = std::max(most, gained / first);
  }
  return {energy / first, most};
}

TEST(TimeIntegration, GeneralizedAlphaKeepsTheEnergyOfStiffBodiesThatTurn) {
  const auto [kept, gained] = turned_energy(Integrator::generalized_alpha);
  EXPECT_NEAR(kept, 1, 0.02);
  EXPECT_LT(gained, 0.05);
}

TEST(TimeIntegration, ReportsShowEnergyGainedWithoutWork) {
  const auto [kept, gained] = turned_energy(Integrator::newmark);
  EXPECT_GT(kept, 10) << "the rule that averages, without damping";
  EXPECT_GT(gained, 10);
  EXPECT_LT(turned_energy(Integrator::implicit_euler).second, 1e-6);
}

TEST(TimeIntegration, AllForcesAccelerateFromTheStart) {
  SmallScene scene;
  scene.options.integrator.scheme = Integrator::newmark;
  scene.options.gravity.setZero();
  // A ball in the wind, pulled by a spring; and a cloth that is stretched in x.
  Body pulled = make_particles("ball", moved(generate::points({1, 1, 1}, 1), {0, 1, 0}), 0.01, 1000);
  Wind wind;
  wind.velocity = [](const Vector3&, double) { return Vector3(0, 0, 10); };
  wind.density = 1.2;
  wind.normal = 0.5;
  wind.points = all_points(pulled);
  pulled.winds = {wind};
  const Mesh sheet = moved(generate::grid(0.2, 0.2, 2, 2), {5, 0, 0});
  ShellRest rest;
  rest.points = sheet.points;
  rest.points->row(0) = (sheet.points.row(0).array() - 5) / 1.1 + 5;
  scene.bodies = {pulled, make_obstacle("nail", generate::points({1, 1, 1}, 1)),
                  make_shell("cloth", sheet, cotton(), rest)};
  Attachment spring;
  spring.other = 1;
  spring.stiffness = 50;
  attach(spring, {{0, {0, -1, -1}, {1, 0, 0}, 0.4, 0}}, scene.bodies, "spring");
  const auto s = scene.simulation({spring});
  const Matrix3X& a = s->state().acceleration;
  const double mass = total_mass(pulled);
  EXPECT_NEAR(a(1, 0), -50 * 0.6 / mass, 1e-6 * 50 * 0.6 / mass);
  EXPECT_NEAR(a(2, 0), 0.5 * 1.2 * 0.5 * EIGEN_PI * 1e-4 * 100 / mass, 1e-6);
  for (Index i = 0; i < sheet.point_count(); ++i) {
    const double x = sheet.points(0, i) - 5;
    EXPECT_LE(a(0, 2 + i) * x, std::abs(x) > 0.01 ? -1e-3 : 1e-9) << "drawn together";
  }
}

TEST(QuasiStatic, AHangingBarStretchesAsItsWeightDemands) {
  // Small strains: u(L) = ρ g L² / 2E, the cross-section free to contract.
  SmallScene scene;
  scene.options.integrator.scheme = Integrator::quasi_static;
  scene.options.solver.tolerance = 1e-9;
  const double E = 1e7, L = 1;
  scene.bodies.push_back(
      make_volume("bar", generate::box({0.1, L, 0.1}, {2, 20, 2}), soft(E, 0.0), 1000, MassKind::lumped));
  std::vector<Index> top;
  for (Index p = 0; p < scene.bodies[0].mesh.point_count(); ++p)
    if (scene.bodies[0].mesh.points(1, p) > 0.499) top.push_back(p);
  add_script(scene.bodies[0], &top, {true, true, true}, {});
  auto s = scene.simulation();
  const StepReport first = s->step();
  EXPECT_EQ(first.kinetic_energy, 0);
  const double u = s->model().initial_nodes.row(1).minCoeff() - s->state().nodes.row(1).minCoeff();
  EXPECT_NEAR(u, 1000 * 9.81 * L * L / (2 * E), 0.01 * u);
  const Matrix3X once = s->state().nodes;
  s->step();  // already in balance: stays
  EXPECT_LT((s->state().nodes - once).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(QuasiStatic, ABoxComesToLieOnTheGroundWithoutInertia) {
  SmallScene scene;
  scene.options.integrator.scheme = Integrator::quasi_static;
  scene.options.solver.tolerance = 1e-4;
  scene.contact.friction = 0.5;
  scene.bodies.push_back(make_volume("box", moved(generate::box({0.2, 0.2, 0.2}, {2, 2, 2}), {0, 0.15, 0}),
                                     soft(1e5), 1000, MassKind::lumped));
  scene.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  auto s = scene.simulation();
  for (int step = 0; step < 3; ++step) EXPECT_TRUE(s->step().converged);
  const double gap = s->state().nodes.row(1).minCoeff();
  EXPECT_GT(gap, 0);
  EXPECT_LT(gap, scene.contact.dhat);
  const Frame frame = s->frame();
  EXPECT_NEAR(frame.contact_force.row(1).sum(), 8 * 9.81, 0.08) << "the ground carries the weight";
}

TEST(QuasiStatic, ABodyThatNothingHoldsIsReported) {
  SmallScene scene;
  scene.options.integrator.scheme = Integrator::quasi_static;
  scene.options.solver.max_iterations = 30;
  scene.bodies.push_back(
      make_volume("box", generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), soft(), 1000, MassKind::lumped));
  auto s = scene.simulation();
  try {
    s->step();
    FAIL();
  } catch (const SolverError& e) {
    EXPECT_NE(std::string(e.what()).find("needs every body held"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace apart::test
