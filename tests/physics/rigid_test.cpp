// Rigid bodies in motion: spin, friction, contact of all kinds of pairs, what holds and turns them.
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

#include <cmath>
#include <numbers>

namespace apart::test {
namespace {

Body rigid(const std::string& name, const Mesh& mesh, double density = 1000,
           const RigidFreedom& freedom = {}) {
  return make_rigid(name, mesh, mass_distribution(mesh, density), freedom);
}
Mesh brick(const Vector3& size = {0.2, 0.1, 0.3}) {
  return generate::box(size, {1, 1, 1});
}
Body ground() {
  return make_half_space("ground", Vector3::Zero(), Vector3::UnitY());
}
/// Largest change of a distance between two nodes of a body, as a share.
double distortion(const Simulation& s, int body) {
  const Model& m = s.model();
  const Index first = m.first_node[std::size_t(body)];
  double worst = 0;
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < i; ++j) {
      const double was = (m.initial_nodes.col(first + i) - m.initial_nodes.col(first + j)).norm();
      const double is = (s.state().nodes.col(first + i) - s.state().nodes.col(first + j)).norm();
      worst = std::max(worst, std::abs(is / was - 1));
    }
  return worst;
}

TEST(RigidBody, ImplicitEulerSlowsItsSpinByThePublishedLaw) {
  SmallScene scene;
  scene.options.gravity = Vector3::Zero();
  scene.options.solver.tolerance = 1e-10;
  scene.options.solver.force_tolerance = 1e-10;
  Body body = rigid("b", brick());
  double angle = 0.3;  // [rad] per step
  set_rigid_velocity(body, Vector3::Zero(), {0, 0, 0});
  // The velocity that a step by this angle leaves: that of the chord.
  const Matrix3 turn = Eigen::AngleAxisd(-angle, Vector3::UnitZ()).toRotationMatrix();
  body.velocity = (body.nodes - turn * body.nodes) / scene.options.dt;
  scene.bodies.push_back(body);
  auto s = scene.simulation();
  for (int step = 0; step < 30; ++step) {
    const Matrix3X before = s->state().nodes;
    s->step();
    const Vector3 a = before.col(0), b = s->state().nodes.col(0);
    const double turned = std::atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
    angle = std::atan2(std::sin(angle), 2 - std::cos(angle));  // [rigid-ipc: damping of spin]
    EXPECT_NEAR(turned, angle, 1e-8);
  }
  EXPECT_LT(distortion(*s, 0), 1e-13);
}

TEST(RigidBody, AnAsymmetricTopKeepsItsAngularMomentumAndTumblesAsItShould) {
  SmallScene scene;
  scene.options.gravity = Vector3::Zero();
  scene.options.integrator.conserves_spin = true;
  scene.options.solver.tolerance = 1e-9;
  Body body = rigid("b", brick({0.3, 0.1, 0.2}));
  set_rigid_velocity(body, Vector3::Zero(), {0.01, 0.01, 5});  // about the intermediate axis
  scene.bodies.push_back(body);
  auto s = scene.simulation();
  const Vector3 momentum = angular_momentum(*s);
  const auto energy = [&] {
    const Matrix3X& v = s->state().velocity;
    return 0.5 * (v * s->model().mass).cwiseProduct(v).sum();
  };
  const double start = energy();
  const Vector3 axis = body.nodes.col(0) - body.nodes.col(1) + body.nodes.col(2) - body.nodes.col(3);  // ∥ z
  int flips = 0;
  bool upright = true;
  for (int step = 0; step < 10000; ++step) {
    s->step();
    const Matrix3X& q = s->state().nodes;
    const double along = (q.col(0) - q.col(1) + q.col(2) - q.col(3)).dot(axis) / axis.squaredNorm();
    if (upright ? along < -0.9 : along > 0.9) {
      upright = !upright;
      ++flips;
    }
  }
  EXPECT_LT((angular_momentum(*s) - momentum).norm(), 1e-9 * momentum.norm());
  EXPECT_NEAR(energy(), start, 1e-6 * start);
  EXPECT_GT(flips, 10) << "a spin about the intermediate axis turns over";
  EXPECT_LT(distortion(*s, 0), 1e-13);
}

TEST(RigidBody, FliesByEveryIntegratorLikeTheAnalyticBody) {
  for (const Integrator scheme :
       {Integrator::implicit_euler, Integrator::bdf2, Integrator::newmark, Integrator::generalized_alpha}) {
    SmallScene scene;
    scene.options.dt = 0.002;
    scene.options.integrator.scheme = scheme;
    scene.options.solver.tolerance = 1e-8;
    Body body = rigid("b", brick());
    set_rigid_velocity(body, {1, 2, 0.5}, {0, 0, 2});
    scene.bodies.push_back(body);
    auto s = scene.simulation();
    for (int step = 0; step < 250; ++step) s->step();
    const Vector3 centre = centre_of_mass(*s, 0);
    const Vector3 a = body.nodes.col(0) - body.nodes.rowwise().mean(), b = s->state().nodes.col(0) - centre;
    const double angle = std::atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
    const bool euler = scheme == Integrator::implicit_euler;
    // Rules of second order are off by a small multiple of (ω dt)².
    EXPECT_NEAR(angle, 1, euler ? 5e-3 : 2 * 0.004 * 0.004) << int(scheme);
    EXPECT_NEAR(centre[1], 1 - 0.5 * 9.81 * 0.25, euler ? 6e-3 : 1e-4) << int(scheme);
    EXPECT_LT(distortion(*s, 0), 1e-12);
  }
}

TEST(RigidBody, RestsOnTheGroundWithItsWeight) {
  SmallScene scene;
  scene.options.dt = 0.02;
  scene.bodies = {rigid("b", moved(brick(), {0, 0.052, 0}), 700), ground()};
  auto s = scene.simulation();
  for (int step = 0; step < 100; ++step) s->step();
  EXPECT_LT(s->state().velocity.cwiseAbs().maxCoeff(), 1e-4);
  const double height = centre_of_mass(*s, 0)[1], weight = total_mass(scene.bodies[0]) * 9.81;
  EXPECT_GT(height, 0.05);
  EXPECT_LT(height, 0.05 + scene.contact.dhat);
  EXPECT_NEAR(s->frame().contact_force.rowwise().sum()[1], weight, 1e-3 * weight);
}

/// How far a brick slides down a slope of slope 1/2 in a second [m].
double slid(double friction) {
  const double angle = std::atan(0.5);
  SmallScene scene;
  scene.contact.friction = friction;
  scene.contact.epsv = 1e-5;
  const Vector3 normal(std::sin(angle), std::cos(angle), 0);
  const Mesh mesh = turned(moved(brick({0.2, 0.05, 0.2}), {0, 0.025 + 0.6e-3, 0}), Vector3::UnitZ(), -angle);
  scene.bodies = {rigid("b", mesh), make_half_space("slope", Vector3::Zero(), normal)};
  auto s = scene.simulation();
  const Vector3 start = centre_of_mass(*s, 0);
  for (int step = 0; step < 100; ++step) s->step();
  return (centre_of_mass(*s, 0) - start).dot(Vector3(std::cos(angle), -std::sin(angle), 0));
}

TEST(RigidBody, SticksOnASlopeAtItsFrictionAngleAndSlidesBelow) {
  EXPECT_LT(slid(0.5), 1e-3);
  // a = g (sin α − μ cos α)
  const double angle = std::atan(0.5), a = 9.81 * (std::sin(angle) - 0.49 * std::cos(angle));
  EXPECT_NEAR(slid(0.49), 0.5 * a, 0.03 * 0.5 * a + 1e-3);
}

TEST(RigidBody, FrictionSettlesWhereNewtonsMethodHasOnlyRoundingLeft) {
  SmallScene scene;
  scene.contact.friction = 0.5;
  scene.options.contact.friction_iterations = 0;
  scene.options.solver.termination = Termination::published;
  Mesh card;
  card.points.resize(3, 4);
  card.points << -1.25, 1.25, 1.25, -1.25, 0, 0, 0, 0, -0.6, -0.6, 0.6, 0.6;
  card.faces.resize(3, 2);
  card.faces << 0, 0, 2, 3, 1, 2;
  const Matrix3X flat = card.points;
  for (int k = 0; k < 12; ++k) {
    const Matrix3 turn = Eigen::AngleAxisd(0.5 + 0.1 * k, Vector3::UnitZ()).toRotationMatrix();
    card.points = (turn * flat).eval().colwise() + Vector3(4 * k + 0.55, 8, 0);
    scene.bodies.push_back(rigid(fmt::format("card {}", k), card));
  }
  scene.bodies.push_back(ground());
  auto s = scene.simulation();
  for (int step = 0; step < 20; ++step) EXPECT_LE(s->step().friction_iterations, 3);
}

/// The fixtures of Rigid IPC: cards without thickness, 2.5 m × 1.25 m, that begin apart, lean on each other
/// as they land, and are hit by a cube in the end. Where ridges land, friction pushes one card over the edge
/// of the other and back, in every solve, unless a step is divided.
void expect_card_house_stands_until_it_is_hit(int levels) {
  SmallScene scene;
  scene.contact.friction = 0.5;
  scene.contact.epsv = 1e-3;
  scene.options.contact.friction_iterations = 0;
  scene.options.contact.stiffness_rule = StiffnessRule::published;
  scene.options.solver.tolerance = 0.0149;
  Mesh card;
  card.points.resize(3, 4);
  card.points << -1.25, 1.25, -1.25, 1.25, 0, 0, 0, 0, 0.625, 0.625, -0.625, -0.625;
  card.faces.resize(3, 2);
  card.faces << 1, 1, 2, 3, 0, 2;
  const auto add = [&](double degrees, double x, double y) {
    scene.bodies.push_back(
        rigid(fmt::format("card {}", scene.bodies.size()),
              moved(turned(card, Vector3::UnitZ(), degrees * std::numbers::pi / 180), Vector3(x, y, 0))));
  };
  for (int level = 0; level < levels; ++level)
    for (int tent = 0; tent < levels - level; ++tent) {
      const double x = 2.2 * tent - 1.1 * (levels - level - 1),
                   y = 1.20830308488593 + 2.41660616977186 * level;
      if (level > 0) add(-1, x, y - 1.20830308488593);
      add(65, x - 0.55, y), add(-65, x + 0.55, y);
    }
  const int top = int(scene.bodies.size()) - 1;
  scene.bodies.push_back(rigid("cube", moved(brick({1, 1, 1}), {4, 2.2658 * levels - 0.5, 0})));
  scene.bodies.back().presence.from = 2;
  set_rigid_velocity(scene.bodies.back(), {-20, 0, 0}, Vector3::Zero());
  scene.bodies.push_back(ground());
  auto s = scene.simulation();
  int reports = 0, divided = 0, marked = 0;
  s->on_slow = [&](const std::string& what) { reports += what.find("has not settled") != what.npos; };
  std::vector<Vector3> landed;
  for (int step = 0; step < 200; ++step) {
    const StepReport report = s->step();
    divided += report.substeps > 1;
    marked += report.friction_unsettled;
    if (step == 99)
      for (int b = 0; b <= top; ++b) landed.push_back(centre_of_mass(*s, b));
  }
  expect_intersection_free(*s);
  EXPECT_GT(divided, 0) << "otherwise the scene does not test what it should";
  EXPECT_EQ(reports, marked);
  // Half of 2.5 m sin 65° above the tents below.
  EXPECT_NEAR(landed[std::size_t(top)][1], (levels - 0.5) * 2.2658, 0.05) << "leans as it was placed";
  for (int b = 0; b <= top; ++b)
    EXPECT_LT((centre_of_mass(*s, b) - landed[std::size_t(b)]).norm(), 1e-5) << "card " << b << " stays";
  for (int step = 0; step < 60; ++step) s->step();
  EXPECT_LT(centre_of_mass(*s, top)[1], landed[std::size_t(top)][1] - 0.5) << "falls when it is hit";
}

TEST(RigidBody, AHouseOfCardsThatIsDroppedStandsUntilItIsHit) {
  expect_card_house_stands_until_it_is_hit(2);
}

TEST(RigidBody, SlowHousesOfCardsOfThreeAndFourLevelsStandUntilTheyAreHit) {
  for (const int levels : {3, 4}) expect_card_house_stands_until_it_is_hit(levels);
}

TEST(RigidBody, ATorqueSpeedsUpItsSpinByItsInertia) {
  SmallScene scene;
  scene.options.gravity = Vector3::Zero();
  scene.options.dt = 1e-3;
  for (const bool hinged : {false, true}) {
    RigidFreedom freedom;
    if (hinged) freedom = {{false, false, false}, {false, true, false}};
    Body body = rigid("b", brick(), 1000, freedom);
    body.torques.push_back({[&](double) { return Vector3(hinged ? 3 : 0, 0.02, 0); }, {}});
    scene.bodies = {body};
    auto s = scene.simulation();
    for (int step = 0; step < 100; ++step) s->step();
    const double inertia = total_mass(body) * (0.2 * 0.2 + 0.3 * 0.3) / 12;
    const Vector3 spin = angular_momentum(*s);
    // What a hinge holds does not turn; 0.1 s at 0.02 N m, less what implicit Euler takes from so slow a
    // spin.
    EXPECT_NEAR(spin[1], 0.02 * 0.1, 1e-4 * 0.02 * 0.1);
    EXPECT_LT(std::abs(spin[0]) + std::abs(spin[2]), 1e-9);
    const Vector3 a = body.nodes.col(0), b = s->state().nodes.col(0);
    EXPECT_NEAR(std::atan2(a[2] * b[0] - a[0] * b[2], a[0] * b[0] + a[2] * b[2]),
                0.5 * 0.02 / inertia * 0.1 * 0.101, 1e-5);
  }
}

TEST(RigidBody, FixedTranslationKeepsItsCentreOnALine) {
  SmallScene scene;
  scene.bodies = {rigid("b", brick(), 1000, {{false, true, false}, {true, true, true}})};
  set_rigid_velocity(scene.bodies[0], {5, 0, 3}, {1, 2, 3});
  auto s = scene.simulation();
  for (int step = 0; step < 20; ++step) s->step();
  const Vector3 centre = centre_of_mass(*s, 0);
  EXPECT_LT(std::hypot(centre[0], centre[2]), 1e-12);
  EXPECT_NEAR(centre[1], -0.5 * 9.81 * 0.2 * 0.21, 1e-6);
}

/// Two bodies that fly at each other; says how far apart their centres are at the end, along x.
double met(const Body& left, Body right, double thickness) {
  SmallScene scene;
  scene.options.gravity = Vector3::Zero();
  scene.contact.thickness = thickness;
  set_rigid_velocity(right, {-2, 0, 0}, Vector3::Zero());
  scene.bodies = {left, right};
  auto s = scene.simulation();
  for (int step = 0; step < 60; ++step) {
    s->step();
    expect_intersection_free(*s);
  }
  return centre_of_mass(*s, 1)[0] - centre_of_mass(*s, 0)[0];
}

TEST(RigidBody, EveryKindOfCodimensionalPairKeepsApart) {
  const Mesh point = generate::points({1, 1, 1}, 1),
             along_y = turned(generate::segments(0.4, 2), Vector3::UnitZ(), std::numbers::pi / 2),
             along_z = turned(generate::segments(0.4, 2), Vector3::UnitY(), std::numbers::pi / 2),
             sheet = turned(generate::grid(0.4, 0.4, 2, 2), Vector3::UnitZ(), std::numbers::pi / 2);
  const auto right = [](const Mesh& mesh) { return rigid("right", moved(mesh, {0.5, 0, 0})); };
  EXPECT_GT(met(rigid("left", point), right(point), 0.01), 0.01) << "point, point";
  EXPECT_GT(met(rigid("left", along_y), right(point), 0.01), 0.01) << "segment, point";
  EXPECT_GT(met(rigid("left", sheet), right(point), 0), 0) << "triangle, point";
  EXPECT_GT(met(rigid("left", along_y), right(along_z), 0), 0) << "segment, segment";
}

TEST(RigidBody, ASpinningBladeNeverPassesThroughWhatItHits) {
  for (const double spin : {20.0, 200.0, 2000.0}) {
    SmallScene scene;
    scene.options.gravity = Vector3::Zero();
    Body blade = rigid("blade", brick({1, 0.02, 0.05}), 5000);
    set_rigid_velocity(blade, Vector3::Zero(), {0, 0, spin});
    Body post = rigid("post", moved(brick({0.02, 0.02, 0.3}), {0.1, 0.35, 0}), 1000);
    scene.bodies = {blade, post};
    auto s = scene.simulation();
    for (int step = 0; step < 30; ++step) {
      s->step();
      expect_intersection_free(*s);
    }
    EXPECT_LT(linear_momentum(*s).norm(), 1e-6) << "momentum is kept";
    EXPECT_LT(distortion(*s, 0), 1e-12);
  }
}

TEST(RigidBody, OneThatHitsAPileKeepsItsMomentumHoweverCoarseTheTolerance) {
  SmallScene scene;
  scene.options.gravity = Vector3::Zero();
  scene.options.dt = 0.01;
  scene.options.solver.termination = Termination::published;
  scene.options.solver.tolerance = 0.3;
  scene.options.contact.stiffness_rule = StiffnessRule::published;
  scene.contact.dhat = 1e-3;
  Body ball = rigid("ball", moved(generate::sphere(1.5, 3), {-2.02, 0.1, 0.1}), 7680);
  set_rigid_velocity(ball, {9, 0.3, 0}, Vector3::Zero());
  scene.bodies.push_back(ball);
  for (int i = 0; i < 27; ++i)
    scene.bodies.push_back(rigid(
        "cube" + std::to_string(i),
        moved(brick({1, 1, 1}), 1.05 * Vector3(double(i / 9), double(i / 3 % 3) - 1, double(i % 3) - 1))));
  auto s = scene.simulation();
  const Vector3 momentum = linear_momentum(*s);
  for (int step = 0; step < 6; ++step) s->step();
  expect_intersection_free(*s);
  // Newton steps of up to the tolerance may be missing, of all bodies together.
  EXPECT_LT((linear_momentum(*s) - momentum).norm(), 0.02 * momentum.norm());
}

TEST(RigidBody, AScriptedOnePushesAndADropPilesUp) {
  SmallScene scene;
  scene.contact.friction = 0.4;
  scene.options.dt = 0.02;
  scene.options.solver.tolerance = 1e-4;
  Body pusher = rigid("pusher", moved(brick({0.1, 0.2, 0.5}), {-0.5, 0.15, 0}));
  add_script(pusher, nullptr, {true, true, true}, rigid_motion([](double t) {
               return Pose{.rotation = Eigen::AngleAxisd(0.5 * t, Vector3::UnitY()).toRotationMatrix(),
                           .centre = Vector3(-0.5, 0.15, 0),
                           .translation = Vector3(0.6 * t, 0, 0)};
             }));
  scene.bodies = {pusher, ground()};
  for (int i = 0; i < 4; ++i)
    scene.bodies.push_back(
        rigid("box" + std::to_string(i), moved(turned(brick({0.15, 0.1, 0.15}), Vector3::UnitY(), 0.4 * i),
                                               {0.02 * i, 0.06 + 0.12 * i, 0.01 * i})));
  auto s = scene.simulation();
  StepReport r;
  for (int step = 0; step < 50; ++step) {
    r = s->step();
    expect_intersection_free(*s);
    // What is pulled is held once a thousandth of its way in the step, 0.6 m/s times 0.02 s, is left [thesis
    // A.5]; the next step goes on from its script, so that errors do not add up.
    EXPECT_NEAR(centre_of_mass(*s, 0)[0], -0.5 + 0.6 * 0.02 * (step + 1), 1e-3 * 0.012)
        << "the pusher goes where it should, in step " << step + 1;
  }
  EXPECT_GT(r.contacts, 10);
  EXPECT_GT(centre_of_mass(*s, 2)[0], 0.1) << "the lowest box is pushed";
  for (const int b : {0, 2, 3, 4, 5}) EXPECT_LT(distortion(*s, b), 1e-12);
}

}  // namespace
}  // namespace apart::test
