// Membrane, strain limit and bending of shells as potentials.
#include <apart/core/diagnostics.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/potentials/hinge_bending.hpp>
#include <apart/potentials/membrane_elasticity.hpp>

#include <gtest/gtest.h>
#include <support/finite_difference.hpp>
#include <support/potential_checks.hpp>

#include <numbers>
#include <random>

namespace apart::test {
namespace {

/// Projection is done in the space of F, not of the points.
constexpr PotentialCheck check{1e-6, 1e-6, 1e-5, false};

Mesh three_triangles() {
  Mesh mesh;
  mesh.points.resize(3, 5);
  mesh.points << 0, 1, 0.2, 1.1, 0.4, 0, 0.1, 0.9, 1, -0.8, 0, 0.2, 0, 0.1, 0.3;
  mesh.faces.resize(3, 3);
  mesh.faces << 0, 1, 0, 1, 3, 4, 2, 2, 1;
  return mesh;
}

const std::vector<Membrane> membranes = {
    KoiterMembrane{plane_stress_parameters(1e4, 0.3)}, NeoHookeanMembrane{plane_stress_parameters(1e4, 0.3)},
    orthotropic_membrane(2e4, 1e4, 0.2, 3e3), BarrierMembrane{{2e4, 4e3, 1e4, 3e3}, {0.6, 0.6, 0.6}}};

Body shell(const Membrane& membrane, std::optional<StretchLimit> limit = {}, bool flat = false) {
  ShellSubstance substance;
  substance.membrane = membrane;
  substance.thickness = 0.1;
  substance.bending_young = 1e4;
  substance.bending_poisson = 0.3;
  substance.limit = limit;
  return make_shell("s", three_triangles(), substance,
                    {.points = {}, .flat = flat, .warp = Vector3(1, 0.2, 0.1), .warp_from_texture = false});
}

Matrix3X shaken(const Matrix3X& x, unsigned seed, double size) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> u(-size, size);
  Matrix3X y = x;
  for (Eigen::Index k = 0; k < y.size(); ++k) y(k) += u(engine);
  return y;
}

TEST(ShellContract, MembranesWithAndWithoutLimits) {
  const StretchLimit limit{1.5, 0.5, 1, 1e3};
  int tested = 0;
  for (const Membrane& m : membranes)
    for (const bool limited : {false, true}) {
      const Body body = shell(m, limited ? std::optional(limit) : std::nullopt);
      MembraneElasticity potential;
      potential.add(*body.shell, 0);
      potential.set_scale(0.01);
      for (unsigned seed = 0; seed < 6; ++seed) {
        const Matrix3X x = shaken(body.nodes, seed, seed == 0 ? 0 : 0.15);
        potential.prepare(x);
        if (!std::isfinite(potential.value(x))) continue;
        ++tested;
        if (seed == 0) {  // at rest there is no gradient to compare with
          Matrix3X g = Matrix3X::Zero(3, 5);
          potential.add_gradient(x, g);
          EXPECT_LT(g.norm(), 1e-13);
          continue;
        }
        expect_potential_contract(potential, x, fmt::format("membrane {}, seed {}", m.index(), seed), check);
      }
    }
  EXPECT_GT(tested, 40);
}

TEST(ShellContract, LimitsChangeNeitherGradientNorHessianAtRest) {
  const Body free = shell(membranes[0]), limited = shell(membranes[0], StretchLimit{1.01, 0.99, 1, 1e3});
  MembraneElasticity a, b;
  a.add(*free.shell, 0);
  b.add(*limited.shell, 0);
  a.prepare(free.nodes);
  b.prepare(free.nodes);
  Matrix3X ga = Matrix3X::Zero(3, 5), gb = ga;
  a.add_gradient(free.nodes, ga);
  b.add_gradient(free.nodes, gb);
  EXPECT_LT((ga - gb).norm(), 1e-9);
  const Eigen::MatrixXd ha = dense_hessian(a, free.nodes, Projection::none),
                        hb = dense_hessian(b, free.nodes, Projection::none);
  EXPECT_LT((ha - hb).norm(), 1e-9 * ha.norm());
}

TEST(ShellContract, BendingAtAnyAngleAndRestAngle) {
  for (const bool flat : {false, true}) {
    const Body body = shell(membranes[0], {}, flat);
    ASSERT_EQ(body.shell->hinges.cols(), 2);
    HingeBending potential;
    potential.add(*body.shell, 0);
    potential.set_scale(0.01);
    for (unsigned seed = 1; seed < 30; ++seed)
      expect_potential_contract(potential, shaken(body.nodes, seed, seed % 3 ? 0.2 : 1e-3),
                                fmt::format("flat {}, seed {}", flat, seed), check);
  }
}

TEST(ShellContract, BendingFlatAndNearlyFolded) {
  Mesh mesh;
  mesh.points.resize(3, 4);
  mesh.points << 0, 1, 0.4, 0.5, 0, 0, 1, -1, 0, 0, 0, 0;
  mesh.faces.resize(3, 2);
  mesh.faces << 0, 1, 1, 0, 2, 3;
  ShellSubstance substance;
  substance.membrane = membranes[0];
  substance.thickness = 0.1;
  substance.bending_young = 1e4;
  const Body body = make_shell("s", mesh, substance);
  EXPECT_EQ(body.shell->rest_angle[0], 0);
  HingeBending potential;
  potential.add(*body.shell, 0);
  const auto folded = [&](double angle) {
    Matrix3X x = mesh.points;
    x.col(3) = Vector3(0.5, -std::cos(angle), std::sin(angle));
    return x;
  };
  Matrix3X g = Matrix3X::Zero(3, 4);
  potential.prepare(mesh.points);
  potential.add_gradient(mesh.points, g);
  EXPECT_EQ(g.norm(), 0);
  for (const double angle : {1e-7, 0.01, 1.0, 3.0, std::numbers::pi - 1e-4, -(std::numbers::pi - 1e-4)})
    expect_potential_contract(potential, folded(angle), fmt::format("angle {}", angle), check);
  // Without area there is nothing to bend; values stay finite.
  Matrix3X line = mesh.points;
  line.col(2) = Vector3(0.4, 0, 0);
  LocalHessians h;
  h.reset(potential, 0, 1);
  potential.prepare(line);
  potential.hessians(line, 0, 1, Projection::psd, h);
  EXPECT_TRUE(h[0].allFinite());
  EXPECT_TRUE(std::isfinite(potential.value(line)));
}

TEST(Shell, RigidMotionCostsNothing) {
  const Body body = shell(membranes[2]);
  MembraneElasticity membrane;
  HingeBending bending;
  membrane.add(*body.shell, 0);
  bending.add(*body.shell, 0);
  const Matrix3 turn = thin_svd(Eigen::Matrix<double, 3, 2>::Random()).u;
  const Matrix3X x = (turn * body.nodes).colwise() + Vector3(1, -2, 3);
  membrane.prepare(x);
  bending.prepare(x);
  EXPECT_LT(membrane.value(x), 1e-22);
  EXPECT_LT(bending.value(x), 1e-22);
}

TEST(Shell, MassIsAreaTimesThicknessTimesDensity) {
  ShellSubstance substance;
  substance.membrane = membranes[0];
  substance.density = 700;
  substance.thickness = 0.002;
  const Body body = make_shell("s", generate::grid(2, 3, 4, 5), substance);
  EXPECT_NEAR(total_mass(body), 2 * 3 * 0.002 * 700, 1e-12);
  EXPECT_EQ(body.shell->hinges.cols(), 0) << "no stiffness of bending, no hinges";
}

TEST(Shell, EdgesOfManyTrianglesAndOfEitherOrientationHaveHinges) {
  Mesh mesh;  // three leaves of a book, the last turned round
  mesh.points.resize(3, 5);
  mesh.points << 0, 1, 0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 0, 1;
  mesh.faces.resize(3, 3);
  mesh.faces << 0, 1, 0, 1, 0, 1, 2, 3, 4;
  ShellSubstance substance;
  substance.membrane = membranes[0];
  substance.bending_young = 1;
  const Body body = make_shell("s", mesh, substance);
  ASSERT_EQ(body.shell->hinges.cols(), 3);
  EXPECT_EQ(body.shell->rest_angle[0], 0);
  EXPECT_NEAR(std::abs(body.shell->rest_angle[1]), std::numbers::pi / 2, 1e-14);
  EXPECT_NEAR(std::abs(body.shell->rest_angle[2]), std::numbers::pi / 2, 1e-14);
}

TEST(Shell, StepsNeverExceedALimitAndUseMostOfTheRoom) {
  for (int kind = 0; kind < 3; ++kind) {
    const Membrane& m = membranes[kind == 2 ? 3 : 0];
    const StretchLimit limit{1.05, kind == 1 ? 0.9 : 0, 1, 1e3};
    const Body body = shell(m, kind == 2 ? std::nullopt : std::optional(limit));
    MembraneElasticity potential;
    potential.add(*body.shell, 0);
    int bounded = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
      const Matrix3X p = shaken(Matrix3X::Zero(3, 5), seed, seed % 2 ? 1 : 0.05);
      const double alpha = potential.feasible_step({body.nodes, p}).alpha;
      ASSERT_GT(alpha, 0);
      // Upper and orthotropic limits hold on the whole way.
      for (const double share : {0.1, 0.5, 0.9, 1.0}) {
        if (kind == 1 && share < 1) continue;
        const Matrix3X x = body.nodes + share * alpha * p;
        potential.prepare(x);
        ASSERT_TRUE(std::isfinite(potential.value(x))) << "seed " << seed << " kind " << kind;
      }
      if (alpha == 1) continue;
      ++bounded;
      const Matrix3X beyond = body.nodes + std::min(1.0, (kind == 1 ? 2.3 : 1.15) * alpha) * p;
      if (std::min(1.0, (kind == 1 ? 2.3 : 1.15) * alpha) == 1.0) continue;
      potential.prepare(beyond);
      EXPECT_FALSE(std::isfinite(potential.value(beyond))) << "seed " << seed << " kind " << kind;
    }
    EXPECT_GT(bounded, 50);
  }
}

TEST(Shell, StiffnessOfALimitDoublesWhenATriangleStaysTooNear) {
  const Body body = shell(membranes[0], StretchLimit{1.05, 0, 1, 3e4});
  MembraneElasticity potential;
  potential.add(*body.shell, 0);
  const Matrix3X near = body.nodes * (1.05 - 1e-6);
  const auto value = [&] {
    potential.prepare(near);
    return potential.value(near);
  };
  const double before = value();
  EXPECT_FALSE(potential.adapt_stiffness(near)) << "once is not enough";
  EXPECT_TRUE(potential.adapt_stiffness(near));
  EXPECT_GT(value(), 1.9 * before);
  EXPECT_TRUE(potential.adapt_stiffness(near)) << "up to 0.1 MPa";
  EXPECT_FALSE(potential.adapt_stiffness(near)) << "and no further";
  potential.reset_stiffness();
  EXPECT_EQ(value(), before);
  EXPECT_FALSE(potential.adapt_stiffness(near));
}

TEST(Shell, AStartBeyondTheLimitIsRefused) {
  ShellSubstance substance;
  substance.membrane = membranes[0];
  substance.limit = StretchLimit{1.1, 0, 1, 1e3};
  ShellRest rest;
  rest.points = three_triangles().points / 1.2;
  try {
    make_shell("flag", three_triangles(), substance, rest);
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_NE(std::string(e.what()).find("'flag': triangle 0"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("1.1"), std::string::npos) << e.what();
  }
}

TEST(Shell, BendingCostsNoMoreThanTheMembrane) {
  // Of a cloth, with its strain limit, all that a Newton iteration asks for.
  ShellSubstance substance;
  substance.membrane = membranes[1];
  substance.limit = StretchLimit{1.2, 0, 1, 1e3};
  substance.bending_young = 1e4;
  const Body body = make_shell("s", generate::grid(1, 1, 60, 60), substance);
  // In turn, as nothing is prepared twice at one place.
  const std::array places = {shaken(body.nodes, 1, 1e-3), shaken(body.nodes, 2, 1e-3)};
  MembraneElasticity membrane;
  HingeBending bending;
  membrane.add(*body.shell, 0);
  bending.add(*body.shell, 0);
  const auto cost = [&](Potential& p) {
    LocalHessians local;
    Matrix3X gradient = Matrix3X::Zero(3, places[0].cols());
    double sum = 0;
    double least = 1e9;
    for (int trial = 0; trial < 5; ++trial) {
      const double start = process_cpu_seconds();
      for (std::size_t repeat = 0; repeat < 4; ++repeat) {
        const Matrix3X& x = places[repeat % 2];
        p.prepare(x);
        sum += p.value(x);
        p.add_gradient(x, gradient);
        for (Index begin = 0; begin < p.term_count(); begin += 256) {
          const Index end = std::min(begin + 256, p.term_count());
          local.reset(p, begin, end);
          p.hessians(x, begin, end, Projection::psd, local);
        }
      }
      least = std::min(least, process_cpu_seconds() - start);
    }
    EXPECT_TRUE(std::isfinite(sum));
    return least;
  };
  const double with_membrane = cost(membrane), with_bending = cost(bending);
  RecordProperty("membrane_ms", fmt::format("{}", 1e3 * with_membrane / 4));
  RecordProperty("bending_ms", fmt::format("{}", 1e3 * with_bending / 4));
  std::printf("membrane %.3f ms, bending %.3f ms for %d triangles, %d hinges\n", 1e3 * with_membrane / 4,
              1e3 * with_bending / 4, int(membrane.term_count()), int(bending.term_count()));
  EXPECT_LT(with_bending, 1.2 * with_membrane);
}

}  // namespace
}  // namespace apart::test
