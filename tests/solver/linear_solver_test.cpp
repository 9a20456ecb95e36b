// Every linear solver against a dense factorisation, with every ordering.
#include <apart/core/parallel.hpp>
#include <apart/solver/linear_solver.hpp>

#include <apart/core/error.hpp>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>

#include <algorithm>
#include <random>

namespace apart::test {
namespace {

/// A random symmetric matrix with a dominant diagonal times `definite`.
BlockSparse random_matrix(Index n, double definite, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<Index> pick(0, n - 1);
  std::normal_distribution<double> normal;
  std::vector<BlockKey> keys;
  for (Index k = 0; k < 3 * n; ++k) {
    const Index i = pick(engine), j = pick(engine);
    if (i != j) keys.push_back(block_key(i, j));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  BlockSparse a(n, keys);
  for (const BlockKey k : keys) {
    const Index j = Index(k >> 32), i = Index(k & 0xffffffffu);
    a.add(a.slot(i, j), Matrix3::NullaryExpr([&] { return normal(engine); }));
  }
  for (Index i = 0; i < n; ++i) a.add(a.slot(i, i), definite * 60 * Matrix3::Identity());
  return a;
}

TEST(LinearSolver, EveryMethodAndOrderingSolvesWhatADenseSolverSolves) {
  for (const LinearSolverMethod& method : linear_solver_methods())
    for (const std::string_view ordering : ordering_names())
      for (const Index n : {1, 2, 24, 25, 400}) {  // full up to 24
        const BlockSparse a = random_matrix(n, 1, unsigned(n));
        const VectorX x = VectorX::LinSpaced(3 * n, -1, 2), b = a.multiply(x);
        auto solver = make_linear_solver(method.name, ordering);
        solver->analyse(a);
        EXPECT_LT((solver->solve(a, b).x - x).norm(), 1e-12 * x.norm())
            << method.name << " " << ordering << " " << n;
        // The analysis is reused for new values.
        BlockSparse twice = a;
        for (double& v : twice.values()) v *= 2;
        EXPECT_LT((solver->solve(twice, b).x - 0.5 * x).norm(), 1e-12 * x.norm());
      }
}

TEST(LinearSolver, CholeskyComesBackToAnEarlierPatternWithTheSameBits) {
  std::vector<BlockSparse> matrices;
  for (const unsigned seed : {1, 2, 3}) matrices.push_back(random_matrix(90, 1, seed));
  const VectorX b = VectorX::LinSpaced(3 * 90, -1, 2);
  const auto solver = make_linear_solver("cholesky");
  for (const std::size_t k : {0, 1, 0, 1, 2, 1, 0}) {
    solver->begin_step();
    solver->analyse(matrices[k]);
    const auto fresh = make_linear_solver("cholesky");
    fresh->analyse(matrices[k]);
    EXPECT_EQ(solver->solve(matrices[k], b).x, fresh->solve(matrices[k], b).x) << k;
  }
}

TEST(LinearSolver, SaysWhenAMatrixIsNotPositiveDefinite) {
  for (const Index n : {10, 40})
    for (const LinearSolverMethod& method : linear_solver_methods()) {
      const BlockSparse a = random_matrix(n, -1, 7);
      auto solver = make_linear_solver(method.name);
      solver->analyse(a);
      const VectorX b = VectorX::Ones(3 * a.block_count());
      EXPECT_EQ(solver->solve(a, b).status, LinearSolution::Status::indefinite) << method.name;
      // and can go on
      const BlockSparse good = random_matrix(n, 1, 7);
      solver->analyse(good);
      EXPECT_TRUE(solver->solve(good, b).is_solved());
    }
}

TEST(LinearSolver, CholeskyCountsTheWorkOfItsFactorisations) {
  constexpr Index n = 5, m = 3 * n;
  std::vector<BlockKey> keys;
  for (Index j = 0; j < n; ++j)
    for (Index i = j + 1; i < n; ++i) keys.push_back(block_key(i, j));
  std::sort(keys.begin(), keys.end());
  BlockSparse full(n, keys);  // its factor is the whole triangle
  for (Index i = 0; i < n; ++i) full.add(full.slot(i, i), Matrix3::Identity());
  double flops = 0;
  for (Index c = 1; c <= m; ++c) flops += double(c) * c;
  auto solver = make_linear_solver("cholesky");
  solver->analyse(full);
  for (int k = 1; k <= 3; ++k) {
    ASSERT_TRUE(solver->solve(full, VectorX::Ones(m)).is_solved());
    const LinearSolverStatistics s = solver->statistics();
    EXPECT_EQ(s.analyses, 1);
    EXPECT_EQ(s.factorisations, k);
    EXPECT_EQ(s.nonzeros, k * m * (m + 1) / 2);
    EXPECT_EQ(s.flops, k * flops);
    EXPECT_EQ(s.blocks, k * n * (n + 1) / 2);
  }
}

TEST(LinearSolver, MethodsThatSaySoHaveTheSameBitsForAnyNumberOfThreads) {
  const BlockSparse a = random_matrix(400, 1, 11);
  const VectorX b = VectorX::LinSpaced(3 * a.block_count(), -1, 2);
  for (const LinearSolverMethod& method : linear_solver_methods()) {
    if (!method.has_same_bits) continue;
    std::vector<VectorX> found;
    for (const int threads : {1, 2, 3}) {
      set_thread_count(threads);
      auto solver = make_linear_solver(method.name);
      solver->analyse(a);
      found.push_back(solver->solve(a, b).x);
    }
    set_thread_count(1);
    EXPECT_EQ(found[0], found[1]) << method.name;
    EXPECT_EQ(found[0], found[2]) << method.name;
  }
}

TEST(LinearSolver, RefusesUnknownNames) {
  EXPECT_THROW(make_linear_solver("pardiso"), InputError);
  EXPECT_THROW(make_linear_solver("cholesky", "rcm"), InputError);
}

}  // namespace
}  // namespace apart::test
