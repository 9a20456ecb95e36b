// What is named in the catalog keeps the contract of its kind: a new row is tested without a new test.
#include <apart/collision/broad_phase.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/potentials/continuum_elasticity.hpp>
#include <apart/potentials/membrane_elasticity.hpp>
#include <apart/solver/linear_solver.hpp>

#include <gtest/gtest.h>
#include <support/described_part.hpp>
#include <support/potential_checks.hpp>
#include <support/small_scene.hpp>

#include <random>

namespace apart::test {
namespace {

/// The material of a catalog row with every parameter at its default.
Material material_of(const Row& row) {
  return make_substance(described_part<MaterialDescription>(R"({"type": ")" + std::string(row.name) + "\"}"))
      .material;
}

TEST(CatalogContract, EveryMaterialIsAPotentialWithRightDerivatives) {
  int count = 0;
  for (const Row& row : catalog().group("material").rows) {
    ++count;
    const Body body =
        make_volume("b", generate::box({1, 1, 1}, {1, 1, 1}), material_of(row), 1000, MassKind::lumped);
    for (unsigned seed = 0; seed < 3; ++seed) {
      ContinuumElasticity elasticity;
      elasticity.add(*body.elastic, 0);
      std::mt19937 engine(seed);
      std::uniform_real_distribution<double> u(-0.15, 0.15);
      Matrix3X x = body.nodes;
      for (Eigen::Index k = 0; k < x.size(); ++k) x(k) += u(engine);
      expect_potential_contract(elasticity, x, std::string(row.name), {1e-6, 1e-6, 1e-5, false});
    }
  }
  EXPECT_GE(count, 6);
}

TEST(CatalogContract, EveryShellMaterialIsAPotentialWithRightDerivatives) {
  int count = 0;
  for (const Row& row : catalog().group("shell_material").rows) {
    ++count;
    const auto material =
        described_part<ShellMaterialDescription>(R"({"type": ")" + std::string(row.name) + "\"}");
    ShellSubstance substance;
    substance.membrane = std::visit([](const auto& m) { return m.make(); }, material);
    const Body body = make_shell("b", generate::grid(1, 1, 1, 2), substance);
    for (unsigned seed = 0; seed < 3; ++seed) {
      MembraneElasticity elasticity;
      elasticity.add(*body.shell, 0);
      std::mt19937 engine(seed);
      std::uniform_real_distribution<double> u(-0.02, 0.02);
      Matrix3X x = body.nodes;
      for (Eigen::Index k = 0; k < x.size(); ++k) x(k) += u(engine);
      expect_potential_contract(elasticity, x, std::string(row.name), {1e-7, 1e-6, 1e-5, false});
    }
  }
  EXPECT_GE(count, 4);
}

TEST(CatalogContract, EveryChoiceOfMethodRunsTheSameSceneToTheSameResult) {
  // Broad phases find the same contacts and linear solvers the same solution: results agree to the solver's
  // tolerance.
  const auto run = [](const SolverOptions& solver) {
    SmallScene scene;
    scene.options.solver = solver;
    scene.options.solver.tolerance = 1e-8;
    scene.contact.friction = 0.3;
    scene.bodies.push_back(
        make_volume("ball", moved(generate::sphere(0.1, 2), {0, 0.102, 0}), soft(), 1000, MassKind::lumped));
    scene.bodies.push_back(make_obstacle("floor", generate::grid(1, 1, 3, 3)));
    auto s = scene.simulation();
    for (int step = 0; step < 5; ++step) s->step();
    return s->state().nodes;
  };
  const Matrix3X expected = run({});
  std::vector<std::pair<std::string, SolverOptions>> variants;
  for (const auto& m : broad_phase_methods()) {
    SolverOptions o;
    o.broad_phase = m.name;
    variants.emplace_back(m.name, o);
  }
  for (const CcdCulling culling : {CcdCulling::none, CcdCulling::cfl})
    for (const bool reuse : {true, false}) {
      SolverOptions o;
      o.ccd_culling = culling;
      o.candidate_reuse = reuse;
      // Found in another order, pairs change nothing at all; shorter steps may.
      if (culling == CcdCulling::none) {
        EXPECT_EQ(run(o), expected) << "without culling, reuse " << reuse;
      }
      variants.emplace_back(fmt::format("culling {}, reuse {}", int(culling), reuse), o);
    }
  for (const auto& m : linear_solver_methods())
    for (const auto ordering : ordering_names()) {
      SolverOptions o;
      o.linear_solver = m.name;
      o.ordering = ordering;
      variants.emplace_back(fmt::format("{} {}", m.name, ordering), o);
    }
  EXPECT_GE(variants.size(), 5u);
  for (const auto& [name, options] : variants)
    EXPECT_LT((run(options) - expected).cwiseAbs().maxCoeff(), 1e-9) << name;
}

}  // namespace
}  // namespace apart::test
