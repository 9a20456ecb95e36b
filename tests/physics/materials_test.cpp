// Each material against the analytic solution of one block.
#include <apart/geometry/generators.hpp>
#include <apart/potentials/continuum_elasticity.hpp>

#include <gtest/gtest.h>
#include <support/small_scene.hpp>

#include <cmath>

namespace apart::test {
namespace {

/// Stretches the block [0, 1] × [−½, ½]² along x by `stretch`, its sides free, and waits until nothing moves.
struct Tension {
  double lateral = 0;  ///< stretch across
  double force = 0;    ///< along x, per area at rest [Pa]
};

Tension pull(const Material& material, double stretch) {
  SmallScene scene;
  scene.options.dt = 0.5;  // implicit Euler damps: large steps lead to the static state
  scene.options.gravity.setZero();
  scene.options.solver.tolerance = 1e-10;
  scene.bodies.push_back(make_volume("block", moved(generate::box({1, 1, 1}, {2, 2, 2}), {0.5, 0, 0}),
                                     material, 1000, MassKind::lumped));
  Body& block = scene.bodies[0];
  const auto chosen = [&](const auto& predicate) {
    std::vector<Index> points;
    for (Index p = 0; p < block.mesh.point_count(); ++p)
      if (predicate(Vector3(block.mesh.points.col(p)))) points.push_back(p);
    return points;
  };
  const std::vector<Index> left = chosen([](const Vector3&x) { return x[0] < 1e-9; }),
                           right = chosen([](const Vector3&x) { return x[0] > 1 - 1e-9; }),
                           middle_y = chosen([](const Vector3&x) { return std::abs(x[1]) < 1e-9; }),
                           middle_z = chosen([](const Vector3&x) { return std::abs(x[2]) < 1e-9; });
  add_script(block, &left, {true, false, false}, {});
  add_script(block, &right, {true, false, false}, rigid_motion([=](double time) {
               Pose pose;
               pose.translation[0] = (stretch - 1) * std::min(1.0, time / 5);
               return pose;
             }));
  add_script(block, &middle_y, {false, true, false}, {});
  add_script(block, &middle_z, {false, false, true}, {});
  auto s = scene.simulation();
  for (int step = 0; step < 60; ++step) EXPECT_TRUE(s->step().converged);
  EXPECT_LT(s->state().velocity.cwiseAbs().maxCoeff(), 1e-8);

  const Matrix3X& x = s->state().nodes;
  Tension result;
  result.lateral = x.row(1).maxCoeff() - x.row(1).minCoeff();
  EXPECT_NEAR(x.row(2).maxCoeff() - x.row(2).minCoeff(), result.lateral, 1e-7);
  EXPECT_NEAR(x.row(0).maxCoeff() - x.row(0).minCoeff(), stretch, 1e-12);
  ContinuumElasticity elasticity;
  elasticity.add(*block.elastic, 0);
  elasticity.prepare(x);
  Matrix3X g = Matrix3X::Zero(3, x.cols());
  elasticity.add_gradient(x, g);
  for (const Index p : right) result.force += g(0, p);
  return result;
}

/// The root of an increasing function in [low, high].
double root(const auto& f, double low, double high) {
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (f(middle) < 0 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

/// Compares with stresses P(a, b) along and Q(a, b) across for stretches a along and b across, written here
/// by hand from the energies: b is where Q vanishes.
void expect_curve(const Material& material, const auto& along, const auto& across) {
  for (const double stretch : {0.7, 0.95, 1.2, 1.8}) {
    SCOPED_TRACE(fmt::format("{} {}", std::visit([](const auto& m) { return m.name; }, material), stretch));
    const double b = root([&](double x) { return across(stretch, x); }, 0.3, 2.0);
    const double p = along(stretch, b);
    const Tension t = pull(material, stretch);
    EXPECT_NEAR(t.lateral, b, 1e-6);
    EXPECT_NEAR(t.force, p, 1e-6 * std::abs(p));
  }
}

const double young = 1e5, poisson = 0.3;
const Lame l = lame_parameters(young, poisson);

TEST(UniaxialTension, OfNeoHookean) {
  expect_curve(
      NeoHookean{l},
      [](double a, double b) { return l.mu * (a - 1 / a) + l.lambda * std::log(a * b * b) / a; },
      [](double a, double b) { return l.mu * (b - 1 / b) + l.lambda * std::log(a * b * b) / b; });
}

TEST(UniaxialTension, OfFixedCorotated) {
  expect_curve(
      FixedCorotated{l},
      [](double a, double b) { return 2 * l.mu * (a - 1) + l.lambda * (a * b * b - 1) * b * b; },
      [](double a, double b) { return 2 * l.mu * (b - 1) + l.lambda * (a * b * b - 1) * a * b; });
}

TEST(UniaxialTension, OfStVenantKirchhoff) {
  const auto trace = [](double a, double b) { return (a * a - 1) / 2 + (b * b - 1); };
  expect_curve(
      StVenantKirchhoff{l},
      [=](double a, double b) { return a * (l.mu * (a * a - 1) + l.lambda * trace(a, b)); },
      [=](double a, double b) { return b * (l.mu * (b * b - 1) + l.lambda * trace(a, b)); });
  // In closed form: b² = 1 − ν (a² − 1), P = E/2 (a³ − a).
  const Tension t = pull(StVenantKirchhoff{l}, 1.4);
  EXPECT_NEAR(t.lateral, std::sqrt(1 - poisson * (1.4 * 1.4 - 1)), 1e-7);
  EXPECT_NEAR(t.force, young / 2 * (1.4 * 1.4 * 1.4 - 1.4), 1e-6 * young);
}

TEST(UniaxialTension, OfMooneyRivlin) {
  // τ = ∂Ψ/∂ln σ: with k = J^(−2/3), 2 c₁ k (σ² − mean) − 2 c₂/k (σ⁻² − mean) + K/2 (J² − 1).
  for (const MooneyRivlin& m : {mooney_rivlin(l), MooneyRivlin{3e4, 0, 2e5}, MooneyRivlin{1e4, 1e4, 5e5}}) {
    const auto kirchhoff = [m](double s, double a, double b) {
      const double j = a * b * b, k = std::pow(j, -2.0 / 3);
      return 2 * m.c1 * k * (s * s - (a * a + 2 * b * b) / 3) -
             2 * m.c2 / k * (1 / (s * s) - (1 / (a * a) + 2 / (b * b)) / 3) + m.bulk / 2 * (j * j - 1);
    };
    expect_curve(
        m, [=](double a, double b) { return kirchhoff(a, a, b) / a; },
        [=](double a, double b) { return kirchhoff(b, a, b) / b; });
  }
}

TEST(UniaxialTension, OfLinearElasticity) {
  expect_curve(
      LinearElasticity{l}, [](double a, double b) { return 2 * l.mu * (a - 1) + l.lambda * (a + 2 * b - 3); },
      [](double a, double b) { return 2 * l.mu * (b - 1) + l.lambda * (a + 2 * b - 3); });
  // In closed form: Hooke.
  const Tension t = pull(LinearElasticity{l}, 1.5);
  EXPECT_NEAR(t.force, young * 0.5, 1e-6 * young);
  EXPECT_NEAR(t.lateral, 1 - poisson * 0.5, 1e-7);
}

TEST(MixedBody, NamesTheCellsThatMayInvertInItsFrames) {
  const Mesh mesh = generate::box({1, 1, 1}, {1, 1, 1});
  CellSubstances mixed{{{NeoHookean{l}, 1000}, {StVenantKirchhoff{l}, 1000}},
                       std::vector<Index>(std::size_t(mesh.tetrahedra.cols()), 0)};
  mixed.of_cell[1] = mixed.of_cell[3] = 1;
  SmallScene scene;
  scene.bodies.push_back(make_volume("first", moved(mesh, {3, 0, 0}), soft(), 1000, MassKind::lumped));
  scene.bodies.push_back(make_volume("mixed", mesh, mixed, MassKind::lumped));
  const Frame frame = scene.simulation()->frame();
  EXPECT_EQ(frame.bodies[1].kind, "volume");
  const int first = int(mesh.tetrahedra.cols());
  EXPECT_EQ(frame.invertible_cells, (std::vector<int>{first + 1, first + 3}));
}

TEST(LayeredBar, StretchesLikeSpringsInSeries) {
  // Lower half stiff, upper half soft: under a displacement of the end the strains are as 1 to E₁/E₂, for
  // ν = 0 and any number of cells.
  const double e1 = 4e5, e2 = 1e5, shift = 0.1;
  SmallScene scene;
  scene.options.dt = 0.5;
  scene.options.gravity.setZero();
  scene.options.solver.tolerance = 1e-10;
  const Mesh mesh = generate::box({0.5, 1, 0.5}, {1, 4, 1});
  CellSubstances halves{
      {{LinearElasticity{lame_parameters(e1, 0)}, 1000}, {LinearElasticity{lame_parameters(e2, 0)}, 500}},
      {}};
  for (Index t = 0; t < mesh.tetrahedra.cols(); ++t) {
    double y = 0;
    for (int k = 0; k < 4; ++k) y += mesh.points(1, mesh.tetrahedra(k, t)) / 4;
    halves.of_cell.push_back(y > 0);
  }
  scene.bodies.push_back(make_volume("bar", mesh, halves, MassKind::consistent));
  EXPECT_NEAR(total_mass(scene.bodies[0]), 0.125 * 1000 + 0.125 * 500, 1e-9);
  std::vector<Index> low, high;
  for (Index p = 0; p < mesh.point_count(); ++p) {
    if (mesh.points(1, p) < -0.5 + 1e-9) low.push_back(p);
    if (mesh.points(1, p) > 0.5 - 1e-9) high.push_back(p);
  }
  add_script(scene.bodies[0], &low, {true, true, true}, {});
  add_script(scene.bodies[0], &high, {true, true, true}, rigid_motion([=](double time) {
               Pose pose;
               pose.translation[1] = shift * std::min(1.0, time);
               return pose;
             }));
  auto s = scene.simulation();
  EXPECT_EQ(s->frame().bodies[0].kind, "invertible_volume");
  for (int step = 0; step < 60; ++step) s->step();
  const double strain1 = shift / 0.5 / (1 + e1 / e2), strain2 = strain1 * e1 / e2;
  for (Index p = 0; p < mesh.point_count(); ++p) {
    const double y = mesh.points(1, p);
    const double expected = y < 0 ? (y + 0.5) * strain1 : 0.5 * strain1 + y * strain2;
    EXPECT_NEAR(s->state().nodes(1, p) - y, expected, 1e-7) << y;
  }
}

}  // namespace
}  // namespace apart::test
