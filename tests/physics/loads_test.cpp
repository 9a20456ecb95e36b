// Given forces, damping and scripts that begin and end.
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

#include <numeric>

namespace apart::test {
namespace {

TEST(Loads, ABodyForceMovesLikeGravityAndOnlyInItsTime) {
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
    load.points = all_points(b);
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

TEST(Loads, TractionsAndPointForcesStretchABarAsStaticsSays) {
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
    add_script(bar, &left, {true, true, true}, {});
    const FacetSet end = facets_where(bar, [](const Vector3& x) { return x[0] > 0.499; });
    // A third of each triangle's area to each corner: only so is the stress uniform.
    VectorX shares = VectorX::Zero(bar.mesh.point_count());
    for (const Index f : bar.sets[end])
      for (const int p : bar.surface_faces.col(f)) shares[p] += area / 2 / 3;
    const auto add = [&bar](Load load, double strength) {
      load.field = [strength](const Vector3&, double t) { return Vector3(strength * t / 0.01, 0, 0); };
      bar.loads.push_back(load);
    };
    if (traction)
      add({.kind = Load::Kind::traction, .field = {}, .points = {}, .facets = end, .when = {}}, force / area);
    else
      for (const Index p : right)
        add({.kind = Load::Kind::force,
             .field = {},
             .points = bar.sets.add_points("pulled", {p}),
             .facets = {},
             .when = {}},
            force * shares[p] / area);
    auto s = scene.simulation();
    s->step();
    const double u = s->state().nodes.row(0).maxCoeff() - 0.5 * L;
    EXPECT_NEAR(u, force * L / (E * area), 0.005 * u) << (traction ? "traction" : "point forces");
  }
}

TEST(Loads, PressureOnAClosedSurfaceShrinksABallAndMovesItNowhere) {
  SmallScene scene;
  scene.options.gravity.setZero();
  scene.options.integrator.scheme = Integrator::quasi_static;
  scene.options.solver.tolerance = 1e-9;
  const double E = 1e5, nu = 0.3, p = 300;
  scene.bodies.push_back(
      make_volume("ball", moved(generate::sphere(0.1, 3), {5, 6, 7}), soft(E, nu), 1000, MassKind::lumped));
  scene.bodies[0].pressures.push_back({all_facets(scene.bodies[0]), [p](double) { return p; }, {}});
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

TEST(Loads, PressureOnAnOpenPatchPushesWithAreaTimesPressure) {
  SmallScene scene;
  scene.options.gravity.setZero();
  const double p = 100;
  // Thrown and turned: the pressure must turn with the face it acts on.
  scene.bodies.push_back(make_volume("box", turned(generate::box({0.2, 0.1, 0.3}, {2, 1, 3}), {1, 2, 3}, 0.7),
                                     soft(1e6), 1000, MassKind::lumped));
  Body& box = scene.bodies[0];
  const Matrix3 r = Eigen::AngleAxisd(0.7, Vector3(1, 2, 3).normalized()).toRotationMatrix();
  Pressure patch;
  patch.facets = facets_where(box, [&](const Vector3& x) { return (r.transpose() * x)[1] > 0.0499; });
  ASSERT_EQ(box.sets[patch.facets].size(), 12u);
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

TEST(Damping, OfMassDampsAFreeBodyExponentially) {
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

TEST(Damping, OfStiffnessStopsVibrationAndLeavesRigidMotionAlone) {
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

TEST(Attachments, HoldAWeightAtTheLengthThatBalancesItUntilTheyEnd) {
  SmallScene scene;
  scene.options.dt = 0.02;
  scene.options.solver.tolerance = 1e-7;
  scene.bodies.push_back(
      make_affine("weight", generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), Orthogonality{1e8}, 1000));
  scene.bodies.push_back(make_obstacle("ceiling", moved(generate::grid(1, 1, 1, 1), {0, 0.1, 0})));
  scene.bodies[0].damping.mass = 20;
  const double stiffness = 500, weight = 9.81;  // [N/m] each of four, [N]
  std::vector<AttachedSpring> springs;
  for (Index p = 0; p < 8; ++p) {
    const Vector3 x = scene.bodies[0].mesh.points.col(p);
    if (x[1] < 0) continue;
    // Four to the corners of the triangle they hang under, which is y = 0.1.
    AttachedSpring spring{p, {0, 1, 2}, Vector3::Zero(), 0.05, 0};
    Matrix3 corners;
    for (int k = 0; k < 3; ++k)
      corners.col(k) = Vector3(scene.bodies[1].mesh.points(0, k), 1, scene.bodies[1].mesh.points(2, k));
    spring.weights = corners.inverse() * Vector3(x[0], 1, x[2]);
    springs.push_back(spring);
  }
  ASSERT_EQ(springs.size(), 4u);
  Attachment hung;
  hung.other = 1;
  hung.stiffness = stiffness;
  hung.when = {0, 2};
  attach(hung, springs, scene.bodies, "hung");
  auto s = scene.simulation({hung});
  for (int step = 0; step < 100; ++step) s->step();
  EXPECT_NEAR(centre_of_mass(*s, 0)[1], -weight / (4 * stiffness), 1e-5);
  for (int step = 0; step < 10; ++step) s->step();
  EXPECT_LT(centre_of_mass(*s, 0)[1], -0.05) << "let go, it falls";
}

TEST(Scripts, LetGoWithTheSpeedOfTheMotionWhateverTheIntegratorAndTheNumberOfSteps) {
  for (const Integrator scheme : {Integrator::implicit_euler, Integrator::bdf2, Integrator::newmark})
    for (const double speed : {0.0, 1.0})
      for (const double until : {0.1, 0.11}) {
        SmallScene scene;
        scene.options.gravity.setZero();
        scene.options.integrator.scheme = scheme;
        scene.bodies.push_back(make_volume("box", generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), soft(), 1000,
                                           MassKind::consistent));
        set_rigid_velocity(scene.bodies[0], {speed == 0 ? 1.0 : 0.0, 0, 0}, Vector3::Zero());
        const auto motion = rigid_motion([speed](double t) {
          Pose p;
          p.translation = {speed * t, 0, 0};
          return p;
        });
        add_script(scene.bodies[0], nullptr, {true, true, true}, motion, {0, until});
        auto s = scene.simulation();
        for (int step = 0; step < 20; ++step) s->step();
        EXPECT_NEAR(s->state().velocity.row(0).mean(), speed, 1e-9) << int(scheme) << " until " << until;
        EXPECT_LT(s->state().acceleration.cwiseAbs().maxCoeff(), 1e-6);
      }
}

TEST(Scripts, OfEverythingThatMustGoAroundByTheLagrangianLeaveNothingToSolve) {
  SmallScene scene;
  scene.options.solver.tolerance = 1e-3;
  scene.bodies.push_back(
      make_volume("box", generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), soft(), 1000, MassKind::lumped));
  // Half a turn in one step: straight ahead it would turn inside out.
  add_script(
      scene.bodies[0], nullptr, {true, true, true}, rigid_motion([](double t) {
        Pose p;
        p.rotation =
            Eigen::AngleAxisd(EIGEN_PI * 0.95 * std::min(1.0, t / 0.01), Vector3::UnitZ()).toRotationMatrix();
        return p;
      }));
  auto s = scene.simulation();
  try {
    s->step();
  } catch (const SolverError& e) {  // it may be blocked, but must say so
    EXPECT_NE(std::string(e.what()).find("Scripted motion of 'box'"), std::string::npos) << e.what();
  }
}

TEST(Loads, PressureStartsNewmarkWithItsAcceleration) {
  // A free box under constant pressure on one face: x = a t²/2 exactly, for every step.
  for (const double dt : {0.02, 0.005}) {
    SmallScene scene;
    scene.options.dt = dt;
    scene.options.gravity.setZero();
    scene.options.integrator.scheme = Integrator::newmark;
    scene.bodies.push_back(
        make_volume("box", generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), soft(1e7), 1000, MassKind::lumped));
    Pressure patch;
    patch.facets = facets_where(scene.bodies[0], [](const Vector3& x) { return x[0] < -0.04; });
    patch.pressure = [](double) { return 100.0; };
    scene.bodies[0].pressures.push_back(patch);
    auto s = scene.simulation();
    while (s->state().time < 0.1999) s->step();
    EXPECT_NEAR(centre_of_mass(*s, 0)[0], 0.5 * (100 * 0.01 / 1) * 0.04, 2e-5) << dt;
  }
}

TEST(Scripts, BeginAndEndAtTheirTimesAndStartFromWhereTheNodesAre) {
  SmallScene scene;
  scene.bodies.push_back(
      make_volume("box", generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), soft(), 1000, MassKind::lumped));
  const auto upwards = rigid_motion([](double t) {
    Pose p;
    p.translation = {0, 2 * t, 0};
    return p;
  });
  add_script(scene.bodies[0], nullptr, {true, true, true}, {}, {0, 0.05});         // held
  add_script(scene.bodies[0], nullptr, {true, true, true}, upwards, {0.1, 0.15});  // caught and lifted
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
