// Every potential keeps the contract of potentials/potential.hpp, on random and on degenerate states. Contact
// and friction do so in contact_contract_test.cpp.
#include <apart/potentials/air_drag.hpp>
#include <apart/potentials/continuum_elasticity.hpp>
#include <apart/potentials/inertia.hpp>
#include <apart/potentials/nodal_forces.hpp>
#include <apart/potentials/rayleigh_damping.hpp>
#include <apart/potentials/rod_elasticity.hpp>
#include <apart/potentials/script_target.hpp>
#include <apart/potentials/springs.hpp>
#include <apart/potentials/surface_pressure.hpp>

#include <gtest/gtest.h>
#include <support/potential_checks.hpp>
#include <support/random.hpp>

#include <Eigen/Geometry>
#include <numbers>
#include <random>

namespace apart::test {
namespace {

/// Two tetrahedra that share a face.
Mesh two_tetrahedra() {
  Mesh m;
  m.points.resize(3, 5);
  m.points << 0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 1;
  m.tetrahedra.resize(4, 2);
  m.tetrahedra << 0, 1, 1, 2, 2, 4, 3, 3;
  for (Index t = 0; t < 2; ++t) {
    auto c = m.tetrahedra.col(t);
    if (signed_volume6(m.points.col(c[0]), m.points.col(c[1]), m.points.col(c[2]), m.points.col(c[3])) < 0)
      std::swap(c[2], c[3]);
  }
  return m;
}

// Elasticity is projected in the space of F: not the nearest matrix in the space of the points, but never
// below.
constexpr bool projects_in_stretch_space = false;

const std::vector<Material>& materials() {
  static const std::vector<Material> all = {NeoHookean{lame_parameters(1e4, 0.4)},
                                            NeoHookean{lame_parameters(1e4, -0.3)},
                                            FixedCorotated{lame_parameters(1e4, 0.4)},
                                            FixedCorotated{lame_parameters(1e4, 0.0)},
                                            StVenantKirchhoff{lame_parameters(1e4, 0.4)},
                                            StVenantKirchhoff{lame_parameters(1e4, -0.3)},
                                            mooney_rivlin(lame_parameters(1e4, 0.4)),
                                            MooneyRivlin{1e3, 4e3, 1e4},
                                            LinearElasticity{lame_parameters(1e4, 0.4)},
                                            LinearElasticity{lame_parameters(1e4, -0.3)},
                                            Orthogonality{1e4}};
  return all;
}

TEST(PotentialContract, InertiaWithLumpedAndConsistentMass) {
  for (const MassKind kind : {MassKind::lumped, MassKind::consistent}) {
    const Body body = make_volume("b", two_tetrahedra(), materials()[0], 1000, kind);
    Inertia inertia(body.mass);
    inertia.set_target(random_points(5, 1));
    const Matrix3X x = random_points(5, 2);
    // Terms are entries of M, not projected one by one: check the sum.
    const auto h = dense_hessian(inertia, x, Projection::none);
    for (int a = 0; a < 5; ++a)
      for (int b = 0; b < 5; ++b) EXPECT_DOUBLE_EQ(h(3 * a, 3 * b), body.mass.coeff(a, b)) << a << " " << b;
    Matrix3X g = Matrix3X::Zero(3, 5);
    inertia.add_gradient(x, g);
    const double e = 1e-3;
    const Matrix3X direction = random_points(5, 3);
    const double slope = (inertia.value(x + e * direction) - inertia.value(x - e * direction)) / (2 * e);
    EXPECT_NEAR(slope, g.cwiseProduct(direction).sum(), 1e-9 * std::abs(slope));
  }
}

TEST(PotentialContract, NodalForces) {
  NodalForces forces;
  const Matrix3X f = random_points(5, 1), origins = random_points(5, 2), x = random_points(5, 3);
  forces.set(0.01, f, origins);
  Matrix3X g = Matrix3X::Zero(3, 5);
  forces.add_gradient(x, g);
  EXPECT_LT((g + 0.01 * f).norm(), 1e-15);
  EXPECT_NEAR(forces.value(x), -0.01 * f.cwiseProduct(x - origins).sum(), 1e-15);
}

TEST(PotentialContract, PressureOnOpenAndClosedPatches) {
  const Mesh mesh = two_tetrahedra();
  Faces closed = boundary_faces(mesh.tetrahedra);
  for (const Index count : {Index(closed.cols()), 2, 1})
    for (unsigned seed = 0; seed < 4; ++seed) {
      SurfacePressure pressure;
      pressure.set(0.01, {{closed.leftCols(count), 100}}, mesh.points);
      const Matrix3X x = mesh.points + random_points(5, seed, 0.2);
      expect_potential_contract(pressure, x, fmt::format("{} faces, seed {}", count, seed));
      // At the start of the step the force is the pressure's, whatever the patch: −p A n / 3 at each corner.
      Matrix3X g = Matrix3X::Zero(3, 5), expected = g;
      pressure.add_gradient(mesh.points, g);
      for (Index f = 0; f < count; ++f) {
        const auto c = closed.col(f);
        const Vector3 p0 = mesh.points.col(c[0]), p1 = mesh.points.col(c[1]), p2 = mesh.points.col(c[2]);
        for (int k = 0; k < 3; ++k) expected.col(c[k]) += (p1 - p0).cross(p2 - p0) / 6;
      }
      EXPECT_LT((g - expected).norm(), 1e-14);
    }
}

TEST(PotentialContract, SpringsToPointsEdgesAndTriangles) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Matrix3X x = random_points(8, seed);
    for (const double length : {0.0, 0.3, 3.0}) {  // drawn, drawn, pressed
      Springs springs;
      springs.set(0.01, {{{{0, 1, -1, -1}, 2}, {1, 0, 0}, 100, length},
                         {{{2, 3, 4, -1}, 3}, {0.3, 0.7, 0}, 50, length},
                         {{{5, 6, 7, 1}, 4}, {0.2, 0.5, 0.3}, 20, length}});
      expect_potential_contract(springs, x, fmt::format("length {}, seed {}", length, seed));
    }
  }
}

TEST(PotentialContract, AirDragOnPointsSegmentsAndTriangles) {
  const DragCoefficients c;
  for (unsigned seed = 0; seed < 4; ++seed) {
    const Matrix3X x = random_points(6, seed), origin = random_points(6, seed + 10);
    const Matrix3X u = random_points(3, seed + 20, 5);
    AirDrag drag;
    drag.set(0.01, 30, origin,
             {{{{0, -1, -1, -1}, 1}, ball_resistance(c, 0.2, u.col(0)), u.col(1)},
              {{{1, 2, -1, -1}, 2}, segment_resistance(c, x.col(1), x.col(2), 0.1, u.col(1)), u.col(2)},
              {{{3, 4, 5, -1}, 3},
               triangle_resistance(c, {x.col(3), x.col(4), x.col(5)}, u.col(2), false),
               u.col(0)}});
    expect_potential_contract(drag, x, fmt::format("seed {}", seed));
  }
}

TEST(PotentialContract, AirDragHasTheForceOfTheSquaredSpeed) {
  const DragCoefficients c{1.2, 2, 0.1};
  const Vector3 a(0, 0, 0), b(2, 0, 0), p(0, 3, 0);  // area 3, normal z
  const auto near = [](const Vector3& got, const Vector3& expected) {
    EXPECT_LT((got - expected).norm(), 1e-12) << got.transpose();
  };
  const Vector3 fast(0, 0, 4), along(3, 0, 0);
  near(triangle_resistance(c, {a, b, p}, fast, false) * fast, {0, 0, 0.6 * 2 * 3 * 16});
  near(triangle_resistance(c, {a, b, p}, -fast, false) * -fast, {0, 0, -0.6 * 2 * 3 * 16});
  near(triangle_resistance(c, {a, b, p}, fast, true) * fast, {0, 0, 0.6 * 2 * 3 * 16});
  near(triangle_resistance(c, {a, b, p}, -fast, true) * -fast, {0, 0, 0});
  near(triangle_resistance(c, {a, b, p}, along, true) * along, {0.6 * 0.1 * 3 * 9, 0, 0});
  near(segment_resistance(c, a, b, 0.5, fast) * fast, {0, 0, 0.6 * 2 * 1 * 16});
  near(segment_resistance(c, a, b, 0.5, along) * along, {0.6 * 0.1 * 1 * 9, 0, 0});
  near(ball_resistance(c, 0.5, fast) * fast, {0, 0, 0.6 * 2 * std::numbers::pi / 4 * 16});
  EXPECT_TRUE(triangle_resistance(c, {a, a, p}, fast, false).isZero(0)) << "no area";
  EXPECT_TRUE(segment_resistance(c, a, a, 1, fast).isZero(0)) << "no length";
}

/// A zigzag of five nodes, closed if asked for.
Body zigzag(RestCurvature rest, bool closed) {
  Mesh m;
  m.points.resize(3, 5);
  m.points << 0, 1, 2, 2.5, 1, 0, 0.3, 0, 1, 1.5, 0, 0, 0.4, 0.2, 0.3;
  m.edges.resize(2, closed ? 5 : 4);
  for (int e = 0; e < m.edges.cols(); ++e) m.edges.col(e) << e, (e + 1) % 5;
  return make_rod("r", m, {.density = 1000, .young = 1e4, .radius = 0.2}, rest);
}

TEST(PotentialContract, RodsOnRandomStates) {
  for (const RestCurvature rest : {RestCurvature::mesh, RestCurvature::straight})
    for (const bool closed : {false, true})
      for (unsigned seed = 0; seed < 6; ++seed) {
        const Body body = zigzag(rest, closed);
        RodElasticity rods;
        rods.add(*body.rods, 0);
        rods.set_scale(0.01);
        EXPECT_EQ(rods.term_count(), closed ? 10 : 7);
        expect_potential_contract(rods, body.nodes + random_points(5, seed, 0.5),
                                  fmt::format("rest {} closed {} seed {}", int(rest), closed, seed),
                                  {1e-6, 1e-6, 1e-5, projects_in_stretch_space});
      }
}

TEST(PotentialContract, RodsThatAreStraightNearlyFoldedAndAlmostOfNoLength) {
  // One bend of three nodes.
  Mesh m;
  m.points.resize(3, 3);
  m.edges.resize(2, 2);
  m.edges << 0, 1, 1, 2;
  const auto with_end = [&](const Vector3& end) {
    Matrix3X x(3, 3);
    x << Vector3(0, 0, 0), Vector3(1, 0, 0), end;
    return x;
  };
  m.points = with_end({2, 0, 0});
  const Body straight = make_rod("r", m, {.density = 1000, .young = 1e4, .radius = 0.2}, RestCurvature::mesh);
  RodElasticity rods;
  rods.add(*straight.rods, 0);
  Matrix3X g = Matrix3X::Zero(3, 3);
  rods.add_gradient(straight.nodes, g);
  EXPECT_EQ(g.norm(), 0) << "a straight rod at rest";
  // The Hessian where the gradient is zero: against the same differences as elsewhere, of a stretched rod.
  for (const Vector3& end : {Vector3(2.1, 0, 0), Vector3(2.1, 1e-9, 0), Vector3(2, 1e-4, 1e-4)})
    expect_potential_contract(rods, with_end(end), "straight", {1e-5, 1e-5, 1e-4, projects_in_stretch_space});
  // θ = π − 0.02
  expect_potential_contract(rods, with_end(Vector3(1 - std::cos(0.02), std::sin(0.02), 0)), "nearly folded",
                            {1e-8, 1e-4, 1e-3, projects_in_stretch_space});
  expect_potential_contract(rods, with_end(Vector3(1, 1e-3, 0)), "almost of no length",
                            {1e-9, 1e-4, 1e-3, projects_in_stretch_space});
  for (const Vector3& end : {Vector3(0.3, 0, 0), Vector3(1, 0, 0)}) {
    EXPECT_TRUE(std::isinf(rods.value(with_end(end)))) << "folded back, or of no length";
    g.setZero();
    rods.add_gradient(with_end(end), g);
    EXPECT_TRUE(g.allFinite());
    for (const Projection p : {Projection::none, Projection::psd})
      EXPECT_TRUE(dense_hessian(rods, with_end(end), p).allFinite());
  }
  // Bent at rest: on the ridge, where the rod is straight, no side is better than another.
  m.points = with_end({1.5, 1, 0});
  const Body bent = make_rod("r", m, {.density = 1000, .young = 1e4, .radius = 0.2}, RestCurvature::mesh);
  RodElasticity other;
  other.add(*bent.rods, 0);
  EXPECT_NEAR(other.value(bent.nodes), 0, 1e-12);
  EXPECT_TRUE(dense_hessian(other, with_end({2, 0, 0}), Projection::psd).allFinite());
  g.setZero();
  other.add_gradient(with_end({2, 0, 0}), g);
  EXPECT_TRUE(g.allFinite());
  expect_potential_contract(other, with_end({2, 0.05, 0.03}), "nearly straight",
                            {1e-7, 1e-5, 1e-4, projects_in_stretch_space});
}

TEST(PotentialContract, ARodBendsWithTheEnergyOfABeam) {
  // A circle of radius R: π α / R, and no stretch. [C-IPC supplement eq. 15]
  const double young = 1e4, radius = 0.01, alpha = young * std::pow(radius, 4) * std::numbers::pi / 4;
  double error = 1;
  for (const int n : {16, 32, 64}) {
    Mesh m;
    m.points.resize(3, n);
    m.edges.resize(2, n);
    for (int i = 0; i < n; ++i) {
      const double angle = 2 * std::numbers::pi * i / n;
      m.points.col(i) << 0.5 * std::cos(angle), 0.5 * std::sin(angle), 0;
      m.edges.col(i) << i, (i + 1) % n;
    }
    const Body ring =
        make_rod("r", m, {.density = 1000, .young = young, .radius = radius}, RestCurvature::straight);
    RodElasticity rods;
    rods.add(*ring.rods, 0);
    const double now = std::abs(rods.value(ring.nodes) / (std::numbers::pi * alpha / 0.5) - 1);
    EXPECT_LT(now, 0.3 * error) << "second order";
    error = now;
  }
  EXPECT_LT(error, 5e-3);
}

TEST(PotentialContract, DampingWithStiffnessAndBothKindsOfMass) {
  for (const MassKind kind : {MassKind::lumped, MassKind::consistent}) {
    const Body body = make_volume("b", two_tetrahedra(), materials()[0], 1000, kind);
    ContinuumElasticity elasticity;
    elasticity.add(*body.elastic, 0);
    elasticity.set_scale(0.01);
    RayleighDamping damping;
    damping.add_stiffness(elasticity, 0, 2, 0.02);
    const Matrix3X start = body.nodes + random_points(5, 7, 0.2);
    elasticity.prepare(start);
    damping.set_lag(start);
    damping.set_step(0.01, 100, start);
    const Matrix3X x = start + random_points(5, 8, 0.1);
    expect_potential_contract(damping, x, "stiffness", {1e-6, 1e-6, 1e-5, projects_in_stretch_space});
    damping.add_mass(body.mass, 0, 3);
    // Entries of M are no terms to project one by one: check the sum.
    Matrix3X g = Matrix3X::Zero(3, 5);
    damping.add_gradient(x, g);
    const auto h = dense_hessian(damping, x, Projection::none);
    const VectorX d = Eigen::Map<const VectorX>(Matrix3X(x - start).data(), 15);
    EXPECT_LT((h * d - Eigen::Map<const VectorX>(g.data(), 15)).norm(), 1e-9 * g.norm()) << "quadratic";
    EXPECT_NEAR(damping.value(x), 0.5 * d.dot(h * d), 1e-9 * damping.value(x));
    EXPECT_EQ(damping.value(start), 0);
  }
}

TEST(PotentialContract, ElasticityOfEveryMaterialOnRandomStates) {
  for (std::size_t m = 0; m < materials().size(); ++m)
    for (unsigned seed = 0; seed < 5; ++seed) {
      const Body body = make_volume("b", two_tetrahedra(), materials()[m], 1000, MassKind::lumped);
      ContinuumElasticity elasticity;
      elasticity.add(*body.elastic, 0);
      elasticity.set_scale(0.01);
      const Matrix3X x = body.nodes + random_points(5, seed, 0.15);
      expect_potential_contract(elasticity, x, fmt::format("material {} seed {}", m, seed),
                                {1e-6, 1e-6, 1e-5, projects_in_stretch_space});
    }
}

TEST(PotentialContract, ElasticityAtRestRotatedStretchedAndFlattened) {
  for (std::size_t m = 0; m < materials().size(); ++m) {
    const Body body = make_volume("b", two_tetrahedra(), materials()[m], 1000, MassKind::lumped);
    ContinuumElasticity elasticity;
    elasticity.add(*body.elastic, 0);
    const Matrix3 rotation = Eigen::AngleAxisd(2.0, Vector3(1, 2, 3).normalized()).toRotationMatrix();
    const std::vector<std::pair<const char*, Vector3>> stretches = {
        {"rotated", {1, 1, 1}},           // three equal singular values, zero stress
        {"uniform", {1.3, 1.3, 1.3}},     // three equal singular values
        {"axial", {2.0, 0.8, 0.8}},       // two equal singular values
        {"flattened", {1.5, 1.2, 1e-2}},  // nearly singular
        {"stretched", {20, 0.7, 0.3}}};
    for (const auto& [name, s] : stretches) {
      const Matrix3X x = rotation * s.asDiagonal() * body.nodes;
      Matrix3X g = Matrix3X::Zero(3, 5);
      elasticity.prepare(x);
      elasticity.add_gradient(x, g);
      if (std::string_view(name) == "rotated") {
        if (std::holds_alternative<LinearElasticity>(materials()[m]))
          EXPECT_GT(g.norm(), 1) << "small strains mistake a rotation for a strain";
        else
          EXPECT_LT(g.norm(), 1e-9) << "a rotation must cost nothing";
        continue;  // relative errors of a zero gradient mean nothing; the Hessian is checked by "uniform"
      }
      expect_potential_contract(elasticity, x, fmt::format("material {} {}", m, name),
                                {1e-6, 2e-6, 1e-4, projects_in_stretch_space});
    }
  }
}

TEST(PotentialContract, MaterialsThatPreventInversionAreInfiniteForInvertedElements) {
  for (const Material& material : materials()) {
    const Body body = make_volume("b", two_tetrahedra(), material, 1000, MassKind::lumped);
    ContinuumElasticity elasticity;
    elasticity.add(*body.elastic, 0);
    const Matrix3X mirrored = Vector3(1, 1, -1).asDiagonal() * body.nodes;
    elasticity.prepare(mirrored);
    EXPECT_EQ(std::isinf(elasticity.value(mirrored)), prevents_inversion(material)) << material.index();
    EXPECT_EQ(elasticity.guarded_cells().cols(), prevents_inversion(material) ? 2 : 0) << material.index();
    EXPECT_EQ(body.elastic->invertible_cells().size(), prevents_inversion(material) ? 0u : 2u);
  }
}

TEST(PotentialContract, ElasticityOfSeveralMaterialsInOneBody) {
  const CellSubstances mixed{
      {{LinearElasticity{lame_parameters(1e4, 0.3)}, 500}, {mooney_rivlin(lame_parameters(1e5, 0.4)), 3000}},
      {1, 0}};
  const Body body = make_volume("b", two_tetrahedra(), mixed, MassKind::lumped);
  ContinuumElasticity elasticity;
  elasticity.add(*make_volume("first", two_tetrahedra(), materials()[0], 1, MassKind::lumped).elastic, 5);
  elasticity.add(*body.elastic, 0);
  EXPECT_EQ(elasticity.guarded_cells().cols(), 3);
  EXPECT_EQ(body.elastic->invertible_cells(), std::vector<Index>{1});
  EXPECT_EQ(elasticity.guarded_cells().col(2), Eigen::Vector4i(body.mesh.tetrahedra.col(0)));
  Matrix3X x(3, 10);
  x << body.nodes, body.nodes;
  x += random_points(10, 3, 0.15);
  expect_potential_contract(elasticity, x, "mixed", {1e-6, 1e-6, 1e-5, projects_in_stretch_space});
  // Each cell is what it would be in a body of that material alone.
  for (int cell = 0; cell < 2; ++cell) {
    ContinuumElasticity alone;
    alone.add(*make_volume("alone", two_tetrahedra(), mixed.substances[mixed.of_cell[cell]].material, 1,
                           MassKind::lumped)
                   .elastic,
              0);
    alone.prepare(x.leftCols(5));
    elasticity.prepare(x);
    EXPECT_EQ(elasticity.cauchy_stress(2 + cell), alone.cauchy_stress(cell));
    EXPECT_EQ(elasticity.stretches(2 + cell), alone.stretches(cell));
  }
  // Mass follows the density of each cell.
  EXPECT_DOUBLE_EQ(total_mass(body), 3000 * body.elastic->volume[0] + 500 * body.elastic->volume[1]);
}

TEST(PotentialContract, ScriptTarget) {
  ScriptTarget target;
  target.stiffness = 50;
  target.targets.push_back({1, {0.1, 0.2, 0.3}, {1, 0, 1}, 2.0, {0.5, 7, -0.3}});
  target.targets.push_back({3, {1, 0, 0}, {1, 1, 1}, 0.1, {0, 0, 0}});
  expect_potential_contract(target, random_points(4, 9), "targets");
}

}  // namespace
}  // namespace apart::test
