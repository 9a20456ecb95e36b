// Affine bodies: the proof that contact knows only x = Φ(q).
#include <apart/geometry/generators.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/small_scene.hpp>

namespace apart::test {
namespace {

const Vector3 box_size{0.2, 0.1, 0.3};
Mesh box_mesh() {
  return generate::box(box_size, {2, 1, 3});
}

TEST(AffineBody, HasTheMassAndInertiaOfItsMesh) {
  const Body affine = make_affine("a", moved(box_mesh(), {1, 2, 3}), Orthogonality{1e8}, 700);
  const Body volume = make_volume("v", moved(box_mesh(), {1, 2, 3}), soft(), 700, MassKind::consistent);
  const Body surface =
      make_affine("s", moved(generate::box(box_size, {1, 1, 1}, generate::Content::surface), {1, 2, 3}),
                  Orthogonality{1e8}, 700);
  for (const Body* b : {&affine, &surface}) {
    EXPECT_NEAR(total_mass(*b), total_mass(volume), 1e-12 * total_mass(volume));
    EXPECT_LT((centre_of_mass(*b) - centre_of_mass(volume)).norm(), 1e-12);
    // Kinetic energy of a spin is ½ I ω²: I = m (a² + b²)/12 about each axis.
    for (int axis = 0; axis < 3; ++axis) {
      Body spun = *b;
      set_rigid_velocity(spun, Vector3::Zero(), Vector3::Unit(axis));
      const double energy = 0.5 * (spun.velocity * spun.mass).cwiseProduct(spun.velocity).sum();
      const double a = box_size[(axis + 1) % 3], c = box_size[(axis + 2) % 3];
      EXPECT_NEAR(energy, 0.5 * total_mass(*b) * (a * a + c * c) / 12, 1e-10);
    }
  }
}

TEST(AffineBody, ReproducesItsMeshUnderAnyAffineMotionOfItsNodes) {
  const Body b = make_affine("a", box_mesh(), Orthogonality{1e8}, 700);
  EXPECT_LT((b.point_map.positions(b.nodes) - b.mesh.points).cwiseAbs().maxCoeff(), 1e-15);
  Matrix3 a;
  a << 1, 0.2, 0.1, -0.3, 0.8, 0.5, 0.1, 0, 1.2;
  const Vector3 t(1, -2, 3);
  const Matrix3X expected = (a * b.mesh.points).colwise() + t;
  const Matrix3X q = (a * b.nodes).colwise() + t;
  EXPECT_LT((b.point_map.positions(q) - expected).cwiseAbs().maxCoeff(), 1e-14);
}

/// Flies, turning about a principal axis, for half a second.
struct Flight {
  double angle;       ///< turned about z [rad]
  Vector3 position;   ///< centre of mass [m]
  double distortion;  ///< largest |σ − 1|
};
Flight fly(Body body, double dt) {
  SmallScene scene;
  scene.options.dt = dt;
  scene.options.solver.tolerance = 1e-8;
  set_rigid_velocity(body, {1, 2, 0.5}, {0, 0, 2});
  const Matrix3X start = body.nodes;
  const Vector3 centre0 = centre_of_mass(body);
  scene.bodies.push_back(std::move(body));
  auto s = scene.simulation();
  StepReport r;
  for (int step = 0; step < int(std::lround(0.5 / dt)); ++step) r = s->step();
  const Vector3 centre = centre_of_mass(*s, 0);
  // The turn that best carries the start to the end, about z.
  double sine = 0, cosine = 0;
  for (Index i = 0; i < start.cols(); ++i) {
    const Vector3 a = start.col(i) - centre0, b = s->state().nodes.col(i) - centre;
    cosine += a[0] * b[0] + a[1] * b[1];
    sine += a[0] * b[1] - a[1] * b[0];
  }
  return {std::atan2(sine, cosine), centre, r.max_strain};
}

TEST(AffineBody, FliesLikeAStiffVolumeAndLikeTheAnalyticRigidBody) {
  const double dt = 0.002;
  const Flight affine = fly(make_affine("a", box_mesh(), Orthogonality{1e8}, 700), dt);
  const Flight volume = fly(make_volume("v", box_mesh(), soft(1e9), 700, MassKind::consistent), dt);
  // Implicit Euler falls ½ g t (t + dt); the spin of 2 rad/s about a principal axis turns by 1 rad, less the
  // damping of implicit Euler, which is of first order in dt: sin/cos of a spin lose a share (ω dt)²/2 per
  // step.
  const Vector3 expected(0.5, 2 * 0.5 - 0.5 * 9.81 * 0.5 * (0.5 + dt), 0.25);
  for (const Flight* f : {&affine, &volume}) {
    EXPECT_LT((f->position - expected).norm(), 1e-7);
    EXPECT_NEAR(f->angle, 1.0, 0.005);
    EXPECT_LT(f->distortion, 1e-4);
  }
  EXPECT_NEAR(affine.angle, volume.angle, 1e-3);
}

TEST(AffineBody, RestsLikeAStiffVolume) {
  double height[2];
  for (const bool is_affine : {false, true}) {
    SmallScene scene;
    scene.options.dt = 0.02;
    const Mesh mesh = moved(box_mesh(), {0, 0.052, 0});
    scene.bodies.push_back(is_affine ? make_affine("b", mesh, Orthogonality{1e8}, 700)
                                     : make_volume("b", mesh, soft(1e9), 700, MassKind::consistent));
    scene.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
    auto s = scene.simulation();
    for (int step = 0; step < 100; ++step) s->step();
    EXPECT_LT(s->state().velocity.cwiseAbs().maxCoeff(), 1e-3);
    height[is_affine] = centre_of_mass(*s, 0)[1];
    EXPECT_GT(height[is_affine], 0.05);
    EXPECT_LT(height[is_affine], 0.05 + scene.contact.dhat);  // the analytic rigid height, within d̂
    const double weight = total_mass(scene.bodies[0]) * 9.81;
    EXPECT_NEAR(s->frame().contact_force.rowwise().sum()[1], weight, 1e-3 * weight);
  }
  EXPECT_NEAR(height[0], height[1], 1e-3);
}

TEST(AffineBody, BoxesPileOnASoftBlock) {
  SmallScene scene;
  scene.contact.friction = 0.4;
  scene.contact.dhat = 2e-3;
  scene.options.dt = 0.02;
  scene.options.solver.tolerance = 1e-3;
  scene.bodies.push_back(make_volume("block", moved(generate::box({0.6, 0.2, 0.6}, {5, 2, 5}), {0, 0.105, 0}),
                                     soft(5e4), 1000, MassKind::lumped));
  for (int i = 0; i < 4; ++i)
    scene.bodies.push_back(
        make_affine("box" + std::to_string(i),
                    turned(generate::box({0.15, 0.1, 0.15}, {1, 1, 1}), Vector3::UnitY(), 0.4 * i),
                    Orthogonality{1e8}, 2000));
  for (int i = 0; i < 4; ++i) {
    const Vector3 by(0.02 * i, 0.265 + 0.11 * i, -0.01 * i);
    Body& b = scene.bodies[i + 1];
    b = make_affine(b.name, moved(b.mesh, by), Orthogonality{1e8}, 2000);
  }
  scene.bodies.push_back(make_half_space("ground", Vector3::Zero(), Vector3::UnitY()));
  auto s = scene.simulation();
  StepReport r;
  for (int step = 0; step < 60; ++step) {
    r = s->step();
    expect_intersection_free(*s);
  }
  EXPECT_GT(r.contacts, 20);
  EXPECT_GT(centre_of_mass(*s, 4)[1], centre_of_mass(*s, 3)[1]) << "the pile must stand";
  EXPECT_LT(centre_of_mass(*s, 1)[1], 0.265) << "the block must give way";
}

}  // namespace
}  // namespace apart::test
