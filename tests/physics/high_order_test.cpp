// Volumes of tetrahedra of a degree above one: bending, tractions, contact on curved surfaces, collision
// meshes.
#include <apart/bodies/collision_skin.hpp>
#include <apart/bodies/lagrange_volume.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/scene_file.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/curved_mesh.hpp>
#include <support/small_scene.hpp>

#include <numbers>

namespace apart::test {
namespace {

Body solid(const std::string& name, const Mesh& mesh, int degree, const Material& material,
           double density = 1000) {
  const CellSubstances cells{{{material, density}}, std::vector<Index>(std::size_t(mesh.cell_count()), 0)};
  return degree == 1 ? make_volume(name, mesh, cells, MassKind::consistent)
                     : make_volume(name, mesh, cells, LagrangeOptions{.degree = degree});
}

/// How far the end of a beam, clamped at the other, is moved by a traction there.
Vector3 moved_end(int degree, const Material& material, const Vector3& traction) {
  SmallScene scene;
  scene.options.gravity.setZero();
  scene.options.integrator.scheme = Integrator::quasi_static;
  scene.options.solver.tolerance = 1e-10;
  scene.bodies.push_back(solid("beam", generate::box({1, 0.1, 0.1}, {8, 1, 1}), degree, material));
  Body& beam = scene.bodies[0];
  const auto clamped = points_where(beam, [](const Vector3& x) { return x[0] < -0.499; });
  add_script(beam, &clamped, {true, true, true}, {});
  const FacetSet end = facets_where(beam, [](const Vector3& x) { return x[0] > 0.499; });
  beam.loads.push_back({.kind = Load::Kind::traction,
                        .field = [=](const Vector3&, double) { return traction; },
                        .points = {},
                        .facets = end,
                        .when = {}});
  auto s = scene.simulation();
  s->step();
  Vector3 sum = Vector3::Zero();
  const auto corners = points_where(beam, [](const Vector3& x) {
    return x[0] > 0.499 && std::abs(std::abs(x[1]) - 0.05) < 1e-9 && std::abs(std::abs(x[2]) - 0.05) < 1e-9;
  });
  for (const Index p : corners) sum += s->state().nodes.col(p) - beam.nodes.col(p);
  return sum / double(corners.size());
}

TEST(HighOrder, BeamsBendAsTimoshenkoSays) {
  // Clamped, with a force at the end: F L³ / 3 E I of bending and F L / k G A of shear, k = 5/6 if ν = 0.
  const double E = 1e6, force = 0.02, inertia = 1e-4 / 12, shear = E / 2;
  const double expected = force / (3 * E * inertia) + force / (5.0 / 6 * shear * 0.01);
  const Material material = LinearElasticity{lame_parameters(E, 0)};
  const auto error = [&](int degree) {
    return 1 - moved_end(degree, material, Vector3(0, force / 0.01, 0))[1] / expected;
  };
  EXPECT_GT(error(1), 0.4);  // the same cells, linear: far too stiff
  EXPECT_NEAR(error(2), 0, 0.02);
  EXPECT_NEAR(error(3), 0, 0.005);
  EXPECT_NEAR(error(4), 0, 0.005);
}

TEST(HighOrder, TractionsAreExactForEveryDegree) {
  const double E = 1e6, pull = 500;
  const Material material = LinearElasticity{lame_parameters(E, 0)};
  for (int degree = 2; degree <= 4; ++degree) {
    const Vector3 moved = moved_end(degree, material, Vector3(pull, 0, 0));
    EXPECT_NEAR(moved[0], pull / E, 1e-9 * pull / E) << degree;
    EXPECT_LT(moved.tail<2>().norm(), 1e-12) << degree;
  }
}

/// A ball of few cells whose boundary follows the sphere to the degree.
Mesh ball(int degree, double size) {
  Mesh mesh = lifted(generate::sphere(size, 1), degree);
  curve_ball(mesh);
  return mesh;
}

TEST(HighOrder, CurvedBallsRestOnTheirWeightWithoutIntersections) {
  for (const int degree : {2, 3}) {
    SmallScene scene;
    scene.options.dt = 0.02;
    const Mesh mesh = moved(ball(degree, 0.1), {0, 0.1021, 0});
    scene.bodies.push_back(solid("ball", mesh, degree, soft(1e5, 0.3)));
    // The volume of the ball to the degree, not of its corners.
    const double volume = 4.0 / 3 * std::numbers::pi * 1e-3;
    EXPECT_NEAR(total_mass(scene.bodies[0]) / 1000, volume, (degree == 2 ? 0.06 : 0.02) * volume);
    scene.bodies.push_back(make_half_space("floor", Vector3::Zero(), Vector3::UnitY()));
    auto s = scene.simulation();
    for (int step = 0; step < 60; ++step) s->step();
    expect_intersection_free(*s);
    const double weight = total_mass(scene.bodies[0]) * 9.81;
    EXPECT_NEAR(s->frame().contact_force.rowwise().sum()[1], weight, 0.01 * weight);
    EXPECT_NEAR(centre_of_mass(*s, 0)[2], 0, 1e-3);
  }
}

TEST(HighOrder, CurvedBallsOfALowerBasisOrderBounceWithoutIntersectionsOrInversions) {
  SmallScene scene;
  scene.options.dt = 0.01;
  const Mesh mesh = moved(ball(4, 0.1), {0, 0.13, 0});
  scene.bodies.push_back(solid("ball", mesh, 2, soft(1e5, 0.3)));
  EXPECT_EQ(scene.bodies[0].elastic->lagrange->shape_degree, 4);
  EXPECT_NEAR(total_mass(scene.bodies[0]), total_mass(solid("ball", mesh, 4, soft(1e5, 0.3))), 1e-12);
  scene.bodies.push_back(make_half_space("floor", Vector3::Zero(), Vector3::UnitY()));
  auto s = scene.simulation();
  double lowest = 1, highest = 0;
  for (int step = 0; step < 40; ++step) {
    s->step();
    if (step % 10 == 9) expect_intersection_free(*s);
    const double height = centre_of_mass(*s, 0)[1];
    lowest = std::min(lowest, height);
    if (height > lowest) highest = std::max(highest, height - lowest);
  }
  EXPECT_LT(lowest, 0.1);     // pressed flat below
  EXPECT_GT(highest, 0.003);  // and up again
}

TEST(HighOrder, BallsAreSqueezedFarBeyondWhatTheirFirstQuadraturePointsResist) {
  // Points of quadrature lie inside of the cells: their corners would be flat long before those resist, and
  // no step would be feasible from the 50th on.
  const Scene scene = build_scene(parse_scene(R"json({"version": 1, "gravity": [0, 0, 0],
    "time": {"dt": 0.02, "steps": 55}, "contact": {"dhat": 1e-3, "friction_coefficient": 0.3},
    "bodies": [
      {"name": "ball", "type": "volume", "basis_order": 2,
       "mesh": {"generator": "sphere", "radius": 0.1, "resolution": 2, "curve": 2},
       "material": {"type": "neo_hookean", "E": 1e5, "nu": 0.3, "rho": 1000}},
      {"name": "bottom", "type": "obstacle", "transform": {"translate": [0, -0.112, 0]},
       "mesh": {"generator": "box", "size": [0.5, 0.02, 0.5], "cells": [1, 1, 1]}},
      {"name": "top", "type": "obstacle", "transform": {"translate": [0, 0.112, 0]},
       "motion": {"translate": [0, "-0.15*t", 0]},
       "mesh": {"generator": "box", "size": [0.5, 0.02, 0.5], "cells": [1, 1, 1]}}]})json",
                                              "squeeze.json", ".", {}));
  Simulation simulation(scene.model);
  double smallest = 1;
  for (int step = 0; step < 55; ++step) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(report.converged) << step;
    smallest = report.min_volume_ratio;
  }
  EXPECT_LT(smallest, 0.4);
  expect_intersection_free(simulation);
}

TEST(HighOrder, FreeBodiesKeepTheirMomentum) {
  for (int degree = 2; degree <= 4; ++degree) {
    SmallScene scene;
    scene.options.gravity.setZero();
    scene.options.integrator.scheme = Integrator::newmark;
    scene.options.solver.tolerance = 1e-10;
    scene.bodies.push_back(solid("ball", ball(degree, 0.1), degree, soft(1e5, 0.3)));
    Body& body = scene.bodies[0];
    for (Index i = 0; i < body.node_count(); ++i)
      body.velocity.col(i) = Vector3(1, 2, 3) + Vector3(5, -3, 2).cross(Vector3(body.nodes.col(i)));
    auto s = scene.simulation();
    const Vector3 linear = linear_momentum(*s), angular = angular_momentum(*s);
    for (int step = 0; step < 10; ++step) s->step();
    EXPECT_LT((linear_momentum(*s) - linear).norm(), 1e-7 * linear.norm()) << degree;
    // Newmark's rule keeps it to the error of its steps only.
    EXPECT_LT((angular_momentum(*s) - angular).norm(), 2e-2 * angular.norm()) << degree;
  }
}

TEST(HighOrder, CollisionMeshesCarryTheContactOfFewCells) {
  // A cube of five tetrahedra and the dense sphere inside it: only the sphere touches.
  for (int degree = 1; degree <= 2; ++degree) {
    SmallScene scene;
    scene.options.dt = 0.02;
    const Mesh cage = moved(generate::box({0.22, 0.22, 0.22}, {1, 1, 1}), {0, 0.1021, 0});
    Mesh skin = moved(generate::sphere(0.1, 4, generate::Content::surface), {0, 0.1021, 0});
    CollisionSkin made = with_collision_skin(solid("ball", cage, degree, soft(1e6, 0.3), 500), skin, "skin");
    EXPECT_EQ(made.outside, 0);
    scene.bodies.push_back(std::move(made.body));
    scene.bodies.push_back(make_half_space("floor", Vector3::Zero(), Vector3::UnitY()));
    auto s = scene.simulation();
    for (int step = 0; step < 40; ++step) s->step();
    expect_intersection_free(*s);
    const double weight = total_mass(scene.bodies[0]) * 9.81;
    EXPECT_NEAR(s->frame().contact_force.rowwise().sum()[1], weight, 0.02 * weight);
    // The cage reaches 1 cm below the sphere, and through the floor.
    EXPECT_LT(s->state().nodes.row(1).minCoeff(), -0.005);
  }
}

TEST(HighOrder, AffineAndRigidBodiesRollOnTheirCollisionMeshes) {
  // A coarse box inside of a dense sphere: it rolls down a plane as a ball does, not as a box.
  for (const BodyKind kind : {BodyKind::affine, BodyKind::rigid}) {
    SmallScene scene;
    scene.options.dt = 0.01;
    scene.options.gravity = 9.81 * Vector3(std::sin(0.1), -std::cos(0.1), 0);
    scene.contact.friction = 0.5;
    const Mesh box = moved(generate::box({0.1, 0.1, 0.1}, {1, 1, 1}), {0, 0.101, 0});
    const Mesh skin = moved(generate::sphere(0.1, 8, generate::Content::surface), {0, 0.101, 0});
    Body body = kind == BodyKind::affine ? make_affine("ball", box, Orthogonality{1e8}, 1000)
                                         : make_rigid("ball", box, mass_distribution(box, 1000));
    const double mass = total_mass(body);
    CollisionSkin made = with_collision_skin(std::move(body), skin, "skin");
    EXPECT_EQ(total_mass(made.body), mass);
    EXPECT_TRUE(made.body.encloses_volume);
    EXPECT_EQ(made.body.surface_faces.cols(), skin.faces.cols());
    scene.bodies.push_back(std::move(made.body));
    scene.bodies.push_back(make_half_space("floor", Vector3::Zero(), Vector3::UnitY()));
    auto s = scene.simulation();
    for (int step = 0; step < 60; ++step) s->step();
    expect_intersection_free(*s);
    // Rolling: a = g sin θ / (1 + I/(m r²)), with I/m = 0.1²/6 of the box.
    const double time = 0.6, expected = 0.5 * 9.81 * std::sin(0.1) / (1 + 1.0 / 6) * time * time;
    EXPECT_NEAR(centre_of_mass(*s, 0)[0], expected, 0.06 * expected);
  }
}

}  // namespace
}  // namespace apart::test
