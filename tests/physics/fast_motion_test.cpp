// Bodies that move far in a step hit what is in their way, and scripted ones follow their curve.
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <support/small_scene.hpp>

namespace apart::test {
namespace {

constexpr double radius = 0.05;

Body ball(BodyKind kind, const Vector3& at) {
  if (kind == BodyKind::particles)
    return make_particles("ball", moved(generate::points({1, 1, 1}, 1), at), radius, 1000);
  const Mesh mesh = moved(generate::sphere(radius, 3), at);
  return kind == BodyKind::affine ? make_affine("ball", mesh, Orthogonality{1e8}, 1000)
                                  : make_volume("ball", mesh, soft(1e7, 0.3), 1000, MassKind::lumped);
}

/// One ball is shot at another, `offset` beside its centre. Returns the momentum of the other in the end, in
/// terms of all momentum.
/// `approach` [m]: how far the one is from touching at the start; `time` [s]: until when.
Vector3 hit(BodyKind kind, double speed, double offset, double dt, double max_motion, double approach = 0.21,
            double time = 0) {
  if (time == 0) time = 0.6 / speed;
  SmallScene scene;
  scene.options.dt = dt;
  scene.options.max_motion = max_motion;
  scene.options.gravity.setZero();
  scene.options.solver.tolerance = 1e-4 * speed;
  scene.bodies = {ball(kind, {-std::sqrt(4 * radius * radius - offset * offset) - approach, offset, 0}),
                  ball(kind, Vector3::Zero())};
  if (kind == BodyKind::particles) scene.contact.thickness = 2 * radius;
  set_rigid_velocity(scene.bodies[0], {speed, 0, 0}, Vector3::Zero());
  auto s = scene.simulation();
  const double all = linear_momentum(*s)[0];
  while (s->state().time < time) s->step();
  expect_intersection_free(*s);
  EXPECT_LT((linear_momentum(*s) - Vector3(all, 0, 0)).norm(), 1e-8 * all);
  const Index first = s->model().first_node[1], n = s->model().bodies[1].node_count();
  return (s->state().velocity.middleCols(first, n) * s->model().bodies[1].mass).rowwise().sum() / all;
}

TEST(FastMotion, ABallThatHitsAnotherAtAnySpeedMovesItAsInShortSteps) {
  // Short: a twentieth of the diameter.
  for (const double speed : {5.0, 20.0, 100.0, 1000.0})
    for (const double offset : {0.0, radius}) {
      const Vector3 fine = hit(BodyKind::particles, speed, offset, 0.005 / speed, 0);
      const Vector3 seen = hit(BodyKind::particles, speed, offset, 0.01, 0.25);
      EXPECT_LT((seen - fine).norm(), 0.03 * fine.norm()) << speed << " m/s, offset " << offset;
    }
}

/// Compares with steps of the length `fine` [s] that resolve the impact: so short, a hundredth of the time of
/// contact, that half of them changes the momentum by about 1 %. They are needed from shortly before the
/// impact until `time` [s], when it is over.
void expect_resolved(BodyKind kind, double speed, double offset, double fine, double time) {
  const Vector3 truth = hit(kind, speed, offset, fine, 0, 0.003, time);
  const Vector3 seen = hit(kind, speed, offset, 0.01, 0.25);
  EXPECT_LT((seen - truth).norm(), 0.04 * truth.norm())
      << name_of(kind) << ' ' << speed << " m/s, offset " << offset << ": " << seen.transpose() << ", fine "
      << truth.transpose();
}

TEST(FastMotion, AffineBallsThatHitEachOtherBounceAsInStepsThatResolveTheImpact) {
  expect_resolved(BodyKind::affine, 20, 0, 1e-6, 5e-4);
  expect_resolved(BodyKind::affine, 20, radius, 1e-6, 5e-4);
  expect_resolved(BodyKind::affine, 100, radius, 1e-6, 4e-4);
  // Head-on, faster than waves: which facets of the two meet first decides how far the balls go sideways, and
  // rounding decides about that. Exact spheres would not go sideways at all.
  const Vector3 truth = hit(BodyKind::affine, 1000, 0, 1e-6, 0, 0.003, 5e-4),
                seen = hit(BodyKind::affine, 1000, 0, 0.01, 0.25);
  EXPECT_NEAR(seen[0], truth[0], 0.04 * truth[0]);
  EXPECT_LT(std::hypot(seen[1], seen[2]), 0.04 * truth[0]);
  EXPECT_LT(std::hypot(truth[1], truth[2]), 0.04 * truth[0]);
}

TEST(FastMotion, SoftBallsThatHitEachOtherBounceAsInStepsThatResolveTheImpact) {
  expect_resolved(BodyKind::volume, 100, radius, 2e-5, 1.6e-3);
}

TEST(SlowFastMotion, SoftBallsThatHitEachOtherBounceAsInStepsThatResolveTheImpact) {
  for (const double offset : {0.0, radius}) {
    expect_resolved(BodyKind::volume, 20, offset, 1e-5, 3.5e-3);
    expect_resolved(BodyKind::volume, 100, offset, 1e-5, 2.6e-3);
  }
}

TEST(FastMotion, EnergyOfAnImpactDoesNotGrowWithIntegratorsThatDamp) {
  for (const Integrator scheme :
       {Integrator::implicit_euler, Integrator::bdf2, Integrator::generalized_alpha})
    for (const BodyKind kind : {BodyKind::affine, BodyKind::particles})
      for (const double speed : {5.0, 20.0, 100.0}) {
        SmallScene scene;
        scene.options.integrator.scheme = scheme;
        scene.options.gravity.setZero();
        scene.options.solver.tolerance = 1e-4 * speed;
        scene.bodies = {ball(kind, {-0.31, radius, 0}), ball(kind, Vector3::Zero())};
        if (kind == BodyKind::particles) scene.contact.thickness = 2 * radius;
        set_rigid_velocity(scene.bodies[0], {speed, 0, 0}, Vector3::Zero());
        auto s = scene.simulation();
        const double start = 0.5 * linear_momentum(*s)[0] * speed;
        double energy = 0;
        while (s->state().time < 0.6 / speed) energy = s->step().kinetic_energy;
        EXPECT_LT(energy, 1.01 * start) << name_of(kind) << ' ' << speed << " m/s, " << int(scheme);
        // Particles lose most: with implicit Euler and BDF2 an impact ends without bouncing, and this one, at
        // 30°, keeps 5/8 then. Measured: 0.637 and more, of affine bodies 0.85 and more; but at 5 m/s, half
        // their width in a step, their impacts are not resolved: 0.600.
        const bool resolved = kind == BodyKind::particles || speed > 10;
        EXPECT_GT(energy, (resolved ? 0.62 : 0.59) * start)
            << name_of(kind) << ' ' << speed << " m/s, " << int(scheme);
      }
}

TEST(FastMotion, InStepsThatAreNotDividedABallWalksAroundWhatItHits) {
  // Why there is a division at all; and it can be switched off.
  EXPECT_LT(hit(BodyKind::particles, 100, radius, 0.01, 0).norm(), 0.05);
}

/// How many grains of a stream, 1.5 m/s fast and 2 mm wide, are below a peg of 5 mm as if it were not there.
int passed(double dt, double max_motion) {
  SmallScene scene;
  scene.options.dt = dt;
  scene.options.max_motion = max_motion;
  scene.options.gravity.setZero();
  scene.options.solver.tolerance = 1e-3;
  scene.contact.thickness = 2e-3;
  scene.contact.dhat = 1e-4;
  Mesh stream = generate::points({1, 12, 1}, 0.006);
  for (Index i = 0; i < stream.point_count(); ++i)
    stream.points.col(i) += Vector3(1e-3 * std::sin(2.4 * i), 0.05, 0);
  scene.bodies = {
      make_particles("grains", stream, 1e-3, 2000),
      make_obstacle("peg", turned(generate::cylinder(2.5e-3, 0.02, 4, 2, generate::Content::surface),
                                  Vector3::UnitX(), EIGEN_PI / 2))};
  set_rigid_velocity(scene.bodies[0], {0, -1.5, 0}, Vector3::Zero());
  auto s = scene.simulation();
  while (s->state().time < 0.12) s->step();
  expect_intersection_free(*s);
  int count = 0;
  for (Index i = 0; i < stream.point_count(); ++i)
    count += s->state().nodes(1, i) < -0.01 && std::abs(s->state().velocity(0, i)) < 0.05;
  return count;
}

TEST(FastMotion, NoGrainOfAStreamPassesAPeg) {
  EXPECT_EQ(passed(2e-4, 0), 0);
  EXPECT_EQ(passed(0.01, 0.25), 0);
  EXPECT_GT(passed(0.01, 0), 2) << "undivided steps let them pass, or this test shows nothing";
}

struct Splash {
  int most_parts = 0, all_parts = 0;
  double forward = 0, sideways = 0;  ///< mean speeds of the grains in the end, of that at the start
};

/// A stream of 160 grains, 8 mm wide and 1.5 m/s fast, on a ball of 24 mm: an impact at nearly every time.
Splash splash(double dt, double max_motion) {
  SmallScene scene;
  scene.options.dt = dt;
  scene.options.max_motion = max_motion;
  scene.options.gravity.setZero();
  scene.options.solver.tolerance = 1e-3;
  scene.contact.thickness = 8e-3;
  scene.contact.dhat = 5e-4;
  Mesh stream = generate::points({4, 10, 4}, 0.0115);
  for (Index i = 0; i < stream.point_count(); ++i)
    stream.points.col(i) += Vector3(1e-3 * std::sin(2.4 * i), 0.09 + 2e-3 * std::sin(1.3 * i), 0);
  scene.bodies = {make_particles("grains", stream, 4e-3, 1600),
                  make_obstacle("ball", generate::sphere(0.012, 3, generate::Content::surface))};
  set_rigid_velocity(scene.bodies[0], {0, -1.5, 0}, Vector3::Zero());
  auto s = scene.simulation();
  Splash result;
  while (s->state().time < 0.12 - 0.5 * dt) {
    const int parts = s->step().substeps;
    result.most_parts = std::max(result.most_parts, parts);
    result.all_parts += parts;
  }
  expect_intersection_free(*s);
  const double all = 1.5 * double(stream.point_count());
  for (Index i = 0; i < stream.point_count(); ++i) {
    const Vector3 v = s->state().velocity.col(i);
    result.forward -= v[1] / all;
    result.sideways += std::hypot(v[0], v[2]) / all;
  }
  return result;
}

TEST(FastMotion, AStreamOfManyGrainsMakesNoMorePartsThanItsMotionNeeds) {
  const Splash fine = splash(5e-4, 0), seen = splash(0.01, 0.25), undivided = splash(0.01, 0);
  // Of a quarter of a width each, 15 mm make 7.5 parts, and there are some that grow. Each impact to a
  // twentieth of a width took 21 parts in a step, 158 in all.
  EXPECT_LE(seen.most_parts, 12);
  EXPECT_LE(seen.all_parts, 70);
  // Measured: 4.3 and 17 %; to a twentieth of a width: 0.4 and 6 %.
  EXPECT_NEAR(seen.forward, fine.forward, 0.05 * fine.forward);
  EXPECT_NEAR(seen.sideways, fine.sideways, 0.2 * fine.sideways);
  EXPECT_GT(undivided.forward, 1.2 * fine.forward) << "undivided steps let them pass, or this shows nothing";
  EXPECT_LT(undivided.sideways, 0.7 * fine.sideways);
}

TEST(FastMotion, WhatMovesLittleOrHasNothingInItsWayIsNotDivided) {
  for (const double speed : {1.0, 500.0}) {
    SmallScene scene;
    scene.bodies = {ball(BodyKind::affine, {0, 0, 0}), ball(BodyKind::affine, {0, 0.3, 0}),
                    make_half_space("ground", {0, -0.06, 0}, Vector3::UnitY())};
    // Slow, with the other in its way; or fast, beside it. Both come to lie on the ground.
    set_rigid_velocity(scene.bodies[1], speed < 10 ? Vector3(0, -speed, 0) : Vector3(speed, 0, 0),
                       Vector3::Zero());
    auto s = scene.simulation();
    for (int step = 0; step < 10; ++step) EXPECT_EQ(s->step().substeps, 1);
  }
}

TEST(FastMotion, SubstepsGiveTheSameStateFromTheSameState) {
  SmallScene scene;
  scene.options.integrator.scheme = Integrator::bdf2;
  scene.bodies = {ball(BodyKind::affine, {-0.31, 0.02, 0}), ball(BodyKind::affine, Vector3::Zero())};
  set_rigid_velocity(scene.bodies[0], {50, 0, 0}, Vector3::Zero());
  auto s = scene.simulation();
  EXPECT_GT(s->step().substeps, 1);
  const State kept = s->state();
  s->step();
  Simulation other(std::make_shared<Model>(s->model()), kept);
  other.step();
  EXPECT_EQ(other.state().nodes, s->state().nodes);
  EXPECT_EQ(other.state().velocity, s->state().velocity);
  EXPECT_EQ(s->state().step, 2);
  EXPECT_EQ(s->state().time, 0.02);
}

Motion turning(double degrees_per_second) {
  return rigid_motion([degrees_per_second](double t) {
    Pose pose;
    pose.rotation =
        Eigen::AngleAxisd(degrees_per_second * t * EIGEN_PI / 180, Vector3::UnitZ()).toRotationMatrix();
    return pose;
  });
}

TEST(ScriptedTurn, GoesAlongTheArcAndKeepsTheShape) {
  for (const double degrees : {45.0, 180.0, 360.0, 720.0}) {
    SmallScene scene;
    scene.bodies = {
        make_obstacle("blade", generate::box({0.4, 0.02, 0.05}, {4, 1, 1}, generate::Content::surface),
                      turning(degrees / 0.01)),
        ball(BodyKind::affine, {0, 0, 5})};
    scene.options.gravity.setZero();
    auto s = scene.simulation();
    const Matrix3X& start = s->model().bodies[0].mesh.points;
    Index tip;
    start.colwise().norm().maxCoeff(&tip);
    std::vector<Vector3> way;
    s->on_iterate = [&](const Matrix3X& x) { way.push_back(x.col(tip)); };
    EXPECT_EQ(s->step().substeps, 1) << "nothing is in its way";
    double length = 0, nearest = 1;
    for (std::size_t i = 1; i < way.size(); ++i) {
      length += (way[i] - way[i - 1]).norm();
      // The chord's middle is the point of the path nearest to the axis.
      nearest = std::min(nearest, (0.5 * (way[i] + way[i - 1])).norm() / start.col(tip).norm());
    }
    const double arc = degrees * EIGEN_PI / 180 * start.col(tip).head<2>().norm();
    EXPECT_NEAR(length, arc, 2e-3 * arc) << degrees;
    EXPECT_GT(nearest, 0.997) << degrees;
  }
}

TEST(ScriptedTurn, SweepsWhatIsInItsWay) {
  for (const double degrees : {45.0, 90.0, 360.0}) {
    SmallScene scene;
    scene.bodies = {
        make_obstacle("blade", generate::box({0.4, 0.02, 0.05}, {4, 1, 1}, generate::Content::surface),
                      turning(degrees / 0.01)),
        make_affine("box", moved(generate::box({0.04, 0.04, 0.04}, {1, 1, 1}), {0.1, 0.06, 0}),
                    Orthogonality{1e8}, 1000)};
    scene.options.gravity.setZero();
    scene.options.solver.tolerance = 1e-3;
    auto s = scene.simulation();
    const StepReport report = s->step();
    EXPECT_GT(report.substeps, 1);
    expect_intersection_free(*s);
    // Pushed ahead of the blade, or thrown out by it; it began at 31 degrees.
    const Vector3 at = centre_of_mass(*s, 1);
    double angle = std::atan2(at[1], at[0]) * 180 / EIGEN_PI;
    const double thrown = at.norm();
    EXPECT_TRUE(angle > 45 || angle < 0 || thrown > 0.25) << degrees << ": " << at.transpose();
    // At least the speed of the blade where it meets the box; a rebound would be twice that. Measured: 1.8
    // times.
    EXPECT_GT(linear_momentum(*s).norm(), 0.064 * 0.1 * degrees * EIGEN_PI / 180 / 0.01) << degrees;
  }
}

}  // namespace
}  // namespace apart::test
