// Planar bodies against plane elasticity, the theory of beams and the laws of conservation.
#include <apart/core/parallel.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <Eigen/Geometry>

namespace apart::test {
namespace {

Body planar(const std::string& name, const Mesh& mesh, const Material& material,
            const PlanarOptions& options = {}) {
  return make_planar(name, mesh, {{{material, 1000}}, std::vector<Index>(std::size_t(mesh.faces.cols()), 0)},
                     options);
}

/// A traction [Pa] on the segments both ends of which satisfy a condition.
void pull(Body& body, const std::function<bool(const Vector3&)>& chosen, const Vector3& traction) {
  std::vector<Index> segments;
  for (Index e = 0; e < body.free_segments.cols(); ++e)
    if (chosen(body.mesh.points.col(body.free_segments(0, e))) &&
        chosen(body.mesh.points.col(body.free_segments(1, e))))
      segments.push_back(e);
  Load load{.kind = Load::Kind::traction,
            .field = [traction](const Vector3&, double) { return traction; },
            .points = {},
            .facets = {},
            .when = {},
            .segments = {}};
  load.segments = body.sets.add_segments("pulled", segments);
  body.loads.push_back(load);
}

SmallScene statics() {
  SmallScene scene;
  scene.options.gravity.setZero();
  scene.options.integrator.scheme = Integrator::quasi_static;
  scene.options.solver.tolerance = 1e-9;
  return scene;
}

/// Holds x on the left and y at the bottom.
void support(Body& body, double left, double bottom) {
  const auto at_left = points_where(body, [&](const Vector3& x) { return x[0] < left + 1e-9; });
  const auto at_bottom = points_where(body, [&](const Vector3& x) { return x[1] < bottom + 1e-9; });
  add_script(body, &at_left, {true, false, false}, {});
  add_script(body, &at_bottom, {false, true, false}, {});
}

/// Where ψ(s) = 0 for an increasing ψ, between 0.1 and 10.
double root_of(const std::function<double(double)>& f) {
  double low = 0.1, high = 10;
  while (high - low > 1e-15 * high) (f(0.5 * (low + high)) > 0 ? high : low) = 0.5 * (low + high);
  return low;
}

TEST(Planar, PulledPlatesStretchAsTheClosedFormSays) {
  const Lame lame = lame_parameters(1e5, 0.35);
  const double stretch = 1.3, depth = 0.2;
  for (const PlaneState state : {PlaneState::strain, PlaneState::stress}) {
    // Neo-Hookean without stress along y, and along z in plane stress, where both contract alike: μ(s² − 1) +
    // λ ln J = 0.
    const bool thin = state == PlaneState::stress;
    const double s = root_of([&](double x) {
      return lame.mu * (x * x - 1) + lame.lambda * std::log(stretch * x * (thin ? x : 1));
    });
    const double log_j = std::log(stretch * s * (thin ? s : 1));
    const double stress = lame.mu * (stretch - 1 / stretch) + lame.lambda * log_j / stretch;
    SmallScene scene = statics();
    Body plate = planar("plate", generate::rectangle({2, 1}, {4, 3}), NeoHookean{lame}, {depth, state});
    support(plate, -1, -0.5);
    pull(plate, [](const Vector3& x) { return x[0] > 0.999; }, {stress, 0, 0});
    scene.bodies = {plate};
    const auto simulation = scene.simulation();
    simulation->step();
    // Uniform, whatever the mesh: a patch test.
    const Matrix3X& x = simulation->state().nodes;
    for (Index i = 0; i < x.cols(); ++i) {
      EXPECT_NEAR(x(0, i), -1 + stretch * (plate.nodes(0, i) + 1), 1e-6);
      EXPECT_NEAR(x(1, i), -0.5 + s * (plate.nodes(1, i) + 0.5), 1e-6);
      EXPECT_EQ(x(2, i), 0);
    }
    const Frame frame = simulation->frame();
    EXPECT_NEAR(frame.strain.maxCoeff(), 0.3, 1e-5);
    // Cauchy's stress is that of the force on the deformed section.
    const double cauchy = stress / (s * (thin ? s : 1)),
                 across = thin ? 0 : lame.lambda * log_j / std::exp(log_j);
    EXPECT_NEAR(frame.von_mises.maxCoeff(), std::sqrt(cauchy * cauchy - cauchy * across + across * across),
                1e-4 * cauchy);
  }
}

TEST(Planar, SmallStrainsHaveTheModuliOfPlaneElasticity) {
  const double modulus = 1e6, nu = 0.3, stress = 1e3;
  for (const PlaneState state : {PlaneState::strain, PlaneState::stress}) {
    SmallScene scene = statics();
    Body plate = planar("plate", generate::rectangle({1, 1}, {2, 2}),
                        LinearElasticity{lame_parameters(modulus, nu)}, {1, state});
    support(plate, -0.5, -0.5);
    pull(plate, [](const Vector3& x) { return x[0] > 0.499; }, {stress, 0, 0});
    scene.bodies = {plate};
    const auto simulation = scene.simulation();
    simulation->step();
    const bool thin = state == PlaneState::stress;
    const double e = thin ? modulus : modulus / (1 - nu * nu), across = thin ? nu : nu / (1 - nu);
    const Matrix3X u = simulation->state().nodes - plate.nodes;
    EXPECT_NEAR(u.row(0).maxCoeff(), stress / e, 1e-8 * stress / e);
    EXPECT_NEAR(u.row(1).minCoeff(), -across * stress / e, 1e-8 * stress / e);
  }
}

TEST(Planar, ACantileverBendsAsABeamOfTimoshenko) {
  const double modulus = 1e6, nu = 0.25, length = 8, height = 1, depth = 0.3, force = 1;
  const double inertia = depth * std::pow(height, 3) / 12, shear = modulus / (2 * (1 + nu));
  const double expected = force * std::pow(length, 3) / (3 * modulus * inertia) +
                          force * length / (5.0 / 6 * shear * depth * height);
  double error = 1;
  for (const int n : {4, 8, 16}) {
    SmallScene scene = statics();
    Body beam = planar("beam", generate::rectangle({length, height}, {8 * n, n}),
                       LinearElasticity{lame_parameters(modulus, nu)}, {depth, PlaneState::stress});
    const auto wall = points_where(beam, [&](const Vector3& x) { return x[0] < -length / 2 + 1e-9; });
    add_script(beam, &wall, {true, true, true}, {});
    pull(beam, [&](const Vector3& x) { return x[0] > length / 2 - 1e-9; }, {0, -force / (height * depth), 0});
    scene.bodies = {beam};
    const auto simulation = scene.simulation();
    simulation->step();
    const double tip = -(simulation->state().nodes - beam.nodes).row(1).minCoeff();
    const double now = std::abs(tip / expected - 1);
    EXPECT_LT(now, error / 3) << n << " cells: " << tip << " of " << expected;
    error = now;
  }
  EXPECT_LT(error, 0.012);
}

/// Vertical displacement of the middle of the right side of Cook's membrane, in units of force / (E depth).
double cook(int n) {
  SmallScene scene = statics();
  Body plate = planar("membrane",
                      generate::quadrilateral({Eigen::Vector2d(0, 0), Eigen::Vector2d(48, 44),
                                               Eigen::Vector2d(48, 60), Eigen::Vector2d(0, 44)},
                                              {n, n}),
                      LinearElasticity{lame_parameters(1e3, 1.0 / 3)}, {1, PlaneState::stress});
  const auto wall = points_where(plate, [](const Vector3& x) { return x[0] < 1e-9; });
  add_script(plate, &wall, {true, true, true}, {});
  pull(plate, [](const Vector3& x) { return x[0] > 48 - 1e-9; }, {0, 1.0 / 16, 0});
  scene.bodies = {plate};
  const auto simulation = scene.simulation();
  simulation->step();
  const Matrix3X u = simulation->state().nodes - plate.nodes;
  for (Index i = 0; i < u.cols(); ++i)
    if ((plate.nodes.col(i) - Vector3(48, 52, 0)).norm() < 1e-9) return 1e3 * u(1, i);
  return 0;
}

TEST(Planar, CooksMembraneConvergesToTheKnownDisplacement) {
  // 23.96 is the value that finite elements of all kinds converge to (plane stress, ν = 1/3).
  const double coarse = cook(8), middle = cook(16), fine = cook(32);
  EXPECT_LT(coarse, middle);
  EXPECT_LT(middle, fine);
  EXPECT_LT(fine, 23.97);
  EXPECT_GT(fine, 0.98 * 23.96);
  const double ratio = (middle - coarse) / (fine - middle);
  EXPECT_NEAR(fine + (fine - middle) / (ratio - 1), 23.96, 0.1) << coarse << " " << middle << " " << fine;
}

TEST(Planar, AFreeBodyKeepsMomentumAndEnergyAndItsPlane) {
  SmallScene scene;
  Mesh mesh = moved(generate::disc(0.5, 4), {0, 0, 0.25});
  Body disc = planar("disc", mesh, soft(1e5, 0.3), {0.1, PlaneState::strain, MassKind::consistent});
  set_rigid_velocity(disc, {0.3, 0.2, 0}, {0, 0, 2});
  for (Index i = 0; i < disc.node_count(); ++i)  // and it begins to stretch
    disc.velocity.col(i) += Vector3(disc.nodes(0, i), -disc.nodes(1, i), 0);
  scene.bodies = {disc};
  scene.options.gravity.setZero();
  scene.options.dt = 1e-3;
  scene.options.integrator.scheme = Integrator::newmark;
  const auto simulation = scene.simulation();
  const Vector3 p = linear_momentum(*simulation), spin = angular_momentum(*simulation);
  StepReport report = simulation->step();
  const double energy = report.kinetic_energy + report.elastic_energy;
  double most_elastic = 0;
  for (int k = 0; k < 100; ++k) {
    report = simulation->step();
    most_elastic = std::max(most_elastic, report.elastic_energy);
    EXPECT_NEAR(report.kinetic_energy + report.elastic_energy, energy, 2e-3 * energy);
  }
  EXPECT_GT(most_elastic, 0.1 * energy);
  EXPECT_LT((linear_momentum(*simulation) - p).norm(), 1e-9 * p.norm());
  EXPECT_LT((angular_momentum(*simulation) - spin).norm(), 1e-3 * spin.norm());
  EXPECT_TRUE((simulation->state().nodes.row(2).array() == 0.25).all());
}

/// Two squares that hit each other, one with a corner.
SmallScene two_squares() {
  SmallScene scene;
  scene.options.gravity.setZero();
  Body left = planar("left", moved(generate::rectangle({1, 1}, {4, 4}), {-0.8, 0, 0}), soft(1e5, 0.3)),
       right = planar(
           "right", moved(turned(generate::rectangle({1, 1}, {5, 5}), Vector3::UnitZ(), 0.6), {0.8, 0.2, 0}),
           soft(1e5, 0.3));
  set_rigid_velocity(left, {4, 0, 0}, Vector3::Zero());
  set_rigid_velocity(right, {-4, 0, 0}, Vector3::Zero());
  scene.bodies = {left, right};
  scene.contact.dhat = 0.01;
  scene.contact.friction = 0.3;
  return scene;
}

TEST(Planar, SquaresThatCollideNeverCrossAndKeepTheirMomentum) {
  for (const ContactFormulation formulation :
       {ContactFormulation::published, ContactFormulation::convergent}) {
    SmallScene scene = two_squares();
    scene.options.contact.formulation = formulation;
    if (formulation == ContactFormulation::convergent) scene.options.contact.barrier_stiffness = 1e4;
    const auto simulation = scene.simulation();
    const Vector3 p = linear_momentum(*simulation);
    int contacts = 0;
    for (int k = 0; k < 40; ++k) {
      contacts = std::max(contacts, int(simulation->step().contacts));
      expect_intersection_free(*simulation);
    }
    EXPECT_GT(contacts, 0);
    EXPECT_LT((linear_momentum(*simulation) - p).norm(), 1e-3 * 1000);
    EXPECT_LT(centre_of_mass(*simulation, 0)[0], centre_of_mass(*simulation, 1)[0]);
    EXPECT_GT(centre_of_mass(*simulation, 0)[0], -1.5);
    EXPECT_TRUE((simulation->state().nodes.row(2).array() == 0).all());
  }
}

TEST(Planar, TheSameBitsForAnyNumberOfThreads) {
  const auto run = [](int threads) {
    set_thread_count(threads);
    auto simulation = two_squares().simulation();
    for (int k = 0; k < 12; ++k) simulation->step();
    return simulation->state();
  };
  expect_same_bits(run(2), run(1));
}

TEST(Planar, EdgesOfOnePlaneAreNoPairs) {
  auto simulation = two_squares().simulation();
  const CollisionSurface& surface = simulation->model().surface;
  ASSERT_FALSE(surface.vertex_plane.empty());
  for (const char* method : {"bvh", "brute_force"})
    for (const Stencil& s : make_broad_phase(method, surface)->find(surface.rest, 0.5))
      EXPECT_EQ(s.kind, PairKind::point_edge) << method;
}

/// How far a block slides on a slope of tangent 0.5 in a second, along it.
double slide_in_plane(double mu, bool on_body) {
  SmallScene scene;
  scene.options.dt = 0.025;
  scene.contact.friction = mu;
  scene.contact.epsv = 1e-5;
  scene.options.contact.friction_iterations = 0;
  const double angle = std::atan(0.5);
  scene.options.gravity = 9.81 * Vector3(std::sin(angle), -std::cos(angle), 0);
  scene.bodies.push_back(
      planar("block", moved(generate::rectangle({0.3, 0.1}, {3, 1}), {0, 0.0509, 0}), soft(1e8)));
  if (on_body) {
    scene.bodies.push_back(
        planar("slope", moved(generate::rectangle({8, 0.5}, {1, 1}), {2, -0.25, 0}), soft(1e8)));
    add_script(scene.bodies.back(), nullptr, {true, true, false}, {});
  } else {
    scene.bodies.push_back(make_half_space("slope", Vector3::Zero(), Vector3::UnitY()));
  }
  const auto simulation = scene.simulation();
  const Vector3 start = centre_of_mass(*simulation, 0);
  for (int step = 0; step < 40; ++step) simulation->step();
  expect_intersection_free(*simulation);
  return (centre_of_mass(*simulation, 0) - start)[0];
}

TEST(Planar, ABlockOnASlopeSticksOrSlidesByTheCoefficientOfFriction) {
  const double angle = std::atan(0.5), a = 9.81 * (std::sin(angle) - 0.4 * std::cos(angle));
  const double expected = 0.5 * a * 1.0 * (1.0 + 0.025);
  for (const bool on_body : {false, true}) {
    EXPECT_LT(std::abs(slide_in_plane(0.55, on_body)), 3e-4) << on_body;
    EXPECT_NEAR(slide_in_plane(0.4, on_body), expected, 0.01 * expected) << on_body;
  }
}

TEST(Planar, RestsOnThingsInSpaceWhereTheyMeetItsPlane) {
  // A box and a triangle mesh below: the edges of the box pass through the plane, its faces are far from it.
  SmallScene scene;
  scene.contact.dhat = 0.01;
  scene.bodies.push_back(planar("disc", moved(generate::disc(0.2, 3), {0.4, 0.25, 0}), soft(1e5, 0.3)));
  scene.bodies.push_back(make_obstacle(
      "box", moved(generate::box({1, 0.2, 1}, {1, 1, 1}, generate::Content::surface), {0, -0.1, 0})));
  scene.bodies[0].damping.mass = 3;
  const auto simulation = scene.simulation();
  for (int k = 0; k < 60; ++k) {
    simulation->step();
    expect_intersection_free(*simulation);
  }
  EXPECT_GT(centre_of_mass(*simulation, 0)[1], 0.15);
  EXPECT_TRUE((simulation->state().nodes.leftCols(scene.bodies[0].node_count()).row(2).array() == 0).all());
}

TEST(Planar, PressureInsideAHoleWidensIt) {
  // A thick tube in plane strain [Lamé]: u = p a²/(E (b² − a²)) (1 + ν) ((1 − 2ν) r + b²/r).
  const double a = 0.5, b = 1, modulus = 1e6, nu = 0.3, p = 1e3;
  std::vector<Eigen::Vector2d> outer, inner;
  for (int k = 0; k < 96; ++k) {
    const Eigen::Vector2d at(std::cos(k * EIGEN_PI / 48), std::sin(k * EIGEN_PI / 48));
    outer.push_back(b * at);
    inner.push_back(a * at);
  }
  SmallScene scene = statics();
  Body tube =
      planar("tube", generate::polygon(outer, {inner}, 0.05), LinearElasticity{lame_parameters(modulus, nu)});
  std::vector<Index> hole;
  for (Index e = 0; e < tube.free_segments.cols(); ++e)
    if (tube.mesh.points.col(tube.free_segments(0, e)).norm() < 0.75) hole.push_back(e);
  tube.pressures.push_back({{}, [p](double) { return p; }, {}, tube.sets.add_segments("hole", hole)});
  const auto right = points_where(tube, [](const Vector3&x) { return std::abs(x[1]) < 1e-12; }),
             top = points_where(tube, [](const Vector3&x) { return std::abs(x[0]) < 1e-12; });
  add_script(tube, &right, {false, true, false}, {});
  add_script(tube, &top, {true, false, false}, {});
  scene.bodies = {tube};
  const auto simulation = scene.simulation();
  simulation->step();
  const auto moved_out = [&](double r) {
    return p * a * a / (modulus * (b * b - a * a)) * (1 + nu) * ((1 - 2 * nu) * r + b * b / r);
  };
  const Matrix3X u = simulation->state().nodes - tube.nodes;
  for (Index i = 0; i < u.cols(); ++i) {
    const double r = tube.nodes.col(i).norm();
    if (r > a * 1.001 && r < b * 0.98) continue;
    EXPECT_NEAR(u.col(i).dot(tube.nodes.col(i)) / r, moved_out(r), 0.02 * moved_out(r)) << r;
  }
}

}  // namespace
}  // namespace apart::test
