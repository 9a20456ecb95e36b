// Given forces, damping and conditions that begin and end.
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

#include <numeric>

namespace apart::test {
namespace {

std::vector<Index> all_faces(const Body& body) {
  std::vector<Index> faces(std::size_t(body.surface_faces.cols()));
  std::iota(faces.begin(), faces.end(), 0);
  return faces;
}

TEST(Loads, a_body_force_moves_like_gravity_and_only_in_its_time) {
  SmallScene scene;
  scene.options.gravity.setZero();
  scene.options.integrator.scheme = Integrator::newmark;
  scene.bodies.push_back(
      make_volume("a", generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), soft(), 1000, MassKind::consistent));
  scene.bodies.push_back(
      make_affine("b", moved(generate::box({0.1, 0.2, 0.3}, {1, 1, 1}), {1, 0, 0}), Orthogonality{1e8}, 500));
  for (Body& b : scene.bodies) {
    Load load;
    load.field = [](const Vector3&, double) { return Vector3(3, 0, -1); };
    load.per_mass = true;
    load.points.resize(std::size_t(b.node_count()));
    std::iota(load.points.begin(), load.points.end(), 0);
    load.when = {0, 0.2};
    b.loads.push_back(load);
  }
  auto s = scene.simulation();
  for (int step = 0; step < 20; ++step) s->step();
  EXPECT_LT((s->state().velocity.colwise() - 0.2 * Vector3(3, 0, -1)).cwiseAbs().maxCoeff(), 1e-9);
  for (int step = 0; step < 20; ++step) s->step();
  // The last step under the load and the first without share one acceleration in Newmark's rule.
  EXPECT_LT((s->state().velocity.colwise() - 0.205 * Vector3(3, 0, -1)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Loads, tractions_and_point_forces_stretch_a_bar_as_statics_says) {
  const double E = 1e6, L = 1, area = 0.01, force = 20;
  for (const bool traction : {true, false}) {
    SmallScene scene;
    scene.options.gravity.setZero();
    scene.options.integrator.scheme = Integrator::quasi_static;
    scene.options.solver.tolerance = 1e-9;
    scene.bodies.push_back(
        make_volume("bar", generate::box({L, 0.1, 0.1}, {8, 1, 1}), soft(E, 0), 1000, MassKind::lumped));
    Body& bar = scene.bodies[0];
    const auto left = points_where(bar, [](const Vector3& x) { return x[0] < -0.499; });
    const auto right = points_where(bar, [](const Vector3& x) { return x[0] > 0.499; });
    prescribe(bar, &left, {true, true, true}, {});
    // A third of each triangle's area to each corner: only so is the stress uniform.
    VectorX shares = VectorX::Zero(bar.mesh.point_count());
    for (Index f = 0; f < bar.surface_faces.cols(); ++f) {
      const auto c = bar.surface_faces.col(f);
      if (std::all_of(c.begin(), c.end(), [&](int p) { return bar.mesh.points(0, p) > 0.499; }))
        for (const int p : c) shares[p] += area / 2 / 3;
    }
    for (const Index p : right) {
      Load load;
      load.points = {p};
      load.weights = VectorX::Constant(1, traction ? shares[p] : 1.0);
      const double strength = traction ? force / area : force * shares[p] / area;
      load.field = [strength](const Vector3&, double t) { return Vector3(strength * t / 0.01, 0, 0); };
      bar.loads.push_back(load);
    }
    auto s = scene.simulation();
    s->step();
    const double u = s->state().nodes.row(0).maxCoeff() - 0.5 * L;
    EXPECT_NEAR(u, force * L / (E * area), 0.005 * u) << (traction ? "traction" : "point forces");
  }
}

TEST(Loads, pressure_on_a_closed_surface_shrinks_a_ball_and_moves_it_nowhere) {
  SmallScene scene;
  scene.options.gravity.setZero();
  scene.options.integrator.scheme = Integrator::quasi_static;
  scene.options.solver.tolerance = 1e-9;
  const double E = 1e5, nu = 0.3, p = 300;
  scene.bodies.push_back(
      make_volume("ball", moved(generate::sphere(0.1, 3), {5, 6, 7}), soft(E, nu), 1000, MassKind::lumped));
  scene.bodies[0].pressures.push_back({all_faces(scene.bodies[0]), [p](double) { return p; }, {}});
  auto s = scene.simulation();
  s->step();
  // dV/V = −p/K with the bulk modulus K = E / 3(1 − 2ν)
  const double bulk = E / (3 * (1 - 2 * nu));
  const Mesh& mesh = s->model().bodies[0].mesh;
  double before = 0, now = 0;
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t) {
    const auto c = mesh.tetrahedra.col(t);
    const auto volume = [&](const Matrix3X& x) {
      return signed_volume6(x.col(c[0]), x.col(c[1]), x.col(c[2]), x.col(c[3])) / 6;
    };
    before += volume(mesh.points);
    now += volume(s->state().nodes);
  }
  EXPECT_NEAR((before - now) / before, p / bulk, 0.02 * p / bulk);
  EXPECT_LT((centre_of_mass(*s, 0) - Vector3(5, 6, 7)).norm(), 1e-9);
}

TEST(Loads, pressure_on_an_open_patch_pushes_with_area_times_pressure) {
  SmallScene scene;
  scene.options.gravity.setZero();
  const double p = 100;
  // Thrown and turned: the pressure must turn with the face it acts on.
  scene.bodies.push_back(make_volume("box", turned(generate::box({0.2, 0.1, 0.3}, {2, 1, 3}), {1, 2, 3}, 0.7),
                                     soft(1e6), 1000, MassKind::lumped));
  Body& box = scene.bodies[0];
  const Matrix3 r = Eigen::AngleAxisd(0.7, Vector3(1, 2, 3).normalized()).toRotationMatrix();
  Pressure patch;
  for (Index f = 0; f < box.surface_faces.cols(); ++f) {
    bool top = true;
    for (int k = 0; k < 3; ++k)
      top = top && (r.transpose() * box.mesh.points.col(box.surface_faces(k, f)))[1] > 0.0499;
    if (top) patch.faces.push_back(f);
  }
  ASSERT_EQ(patch.faces.size(), 12u);
  patch.pressure = [p](double) { return p; };
  box.pressures.push_back(patch);
  auto s = scene.simulation();
  s->step();
  const Vector3 momentum = linear_momentum(*s),
                expected = r * Vector3(0, -p * 0.2 * 0.3 * scene.options.dt, 0);
  EXPECT_LT((momentum - expected).norm(), 1e-3 * expected.norm());
  // A force through the centre of mass makes no spin.
  EXPECT_LT(angular_momentum(*s).norm(), 1e-4 * expected.norm());
}

TEST(Damping, of_mass_slows_a_free_body_exponentially) {
  SmallScene scene;
  scene.options.gravity.setZero();
  scene.options.dt = 0.001;
  scene.options.integrator.scheme = Integrator::bdf2;
  scene.bodies.push_back(
      make_volume("box", generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), soft(), 1000, MassKind::consistent));
  set_rigid_velocity(scene.bodies[0], {2, 0, 0}, Vector3::Zero());
  scene.bodies[0].damping.mass = 3;
  auto s = scene.simulation();
  for (int step = 0; step < 200; ++step) s->step();
  EXPECT_NEAR(linear_momentum(*s)[0], 2 * std::exp(-0.6), 2e-3);
}

TEST(Damping, of_stiffness_stops_vibration_and_leaves_rigid_motion_alone) {
  const auto run = [](double stiffness) {
    SmallScene scene;
    scene.options.gravity.setZero();
    scene.options.dt = 0.002;
    scene.options.integrator.scheme = Integrator::newmark;
    scene.bodies.push_back(
        make_volume("bar", generate::box({0.4, 0.1, 0.1}, {4, 1, 1}), soft(1e5), 1000, MassKind::lumped));
    Body& bar = scene.bodies[0];
    for (Index n = 0; n < bar.node_count(); ++n)
      bar.velocity.col(n) = Vector3(0.5 + 0.5 * bar.nodes(0, n), 0, 1);  // stretching while flying
    bar.damping.stiffness = stiffness;
    auto s = scene.simulation();
    const Vector3 before = linear_momentum(*s);
    StepReport last;
    for (int step = 0; step < 100; ++step) last = s->step();
    EXPECT_LT((linear_momentum(*s) - before).norm(), 1e-7 * before.norm());
    const double mass = total_mass(bar), along = before.squaredNorm() / (2 * mass);
    return last.kinetic_energy - along + last.elastic_energy;  // of the vibration
  };
  const double undamped = run(0), damped = run(5e-3);
  EXPECT_GT(undamped, 0);
  EXPECT_LT(damped, 0.02 * undamped);
}

TEST(Conditions, begin_and_end_at_their_times_and_start_from_where_the_nodes_are) {
  SmallScene scene;
  scene.bodies.push_back(
      make_volume("box", generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), soft(), 1000, MassKind::lumped));
  const auto upwards = rigid_motion([](double t) {
    Pose p;
    p.translation = {0, 2 * t, 0};
    return p;
  });
  prescribe(scene.bodies[0], nullptr, {true, true, true}, {}, {0, 0.05});         // held
  prescribe(scene.bodies[0], nullptr, {true, true, true}, upwards, {0.1, 0.15});  // caught and lifted
  auto s = scene.simulation();
  for (int step = 0; step < 5; ++step) s->step();
  EXPECT_EQ(s->state().nodes, s->model().initial_nodes);
  for (int step = 0; step < 5; ++step) s->step();
  const Matrix3X fallen = s->state().nodes;
  EXPECT_LT(fallen.row(1).mean(), -0.01) << "let go, it falls";
  for (int step = 0; step < 5; ++step) s->step();
  EXPECT_LT((s->state().nodes - (fallen.colwise() + Vector3(0, 0.1, 0))).cwiseAbs().maxCoeff(), 1e-12);
  s->step();
  EXPECT_NEAR(s->state().velocity.row(1).mean(), 2 - 0.0981, 1e-9)
      << "thrown with the speed it was lifted with";
}

}  // namespace
}  // namespace apart::test
