#include <gtest/gtest.h>
#include <apart/core/parallel.hpp>
#include <apart/solver/conjugate_gradient.hpp>
#include <apart/solver/linear_solver.hpp>

#include <signal.h>
#include <unistd.h>
#include <Eigen/Geometry>

#include <atomic>
#include <random>
#include <set>
#include <thread>

namespace apart::test {
namespace {

/// Masses in a grid of n × n × n, pressed against their neighbours: stiff along the lines between them, by
/// numbers that differ by four orders of magnitude, and only the mass across.
BlockSparse pressed_grains(Index n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(0, 4), direction(-0.2, 0.2);
  const auto number = [n](Index i, Index j, Index k) { return (k * n + j) * n + i; };
  struct Contact {
    Index a, b;
    Matrix3 stiffness;
  };
  std::vector<Contact> contacts;
  std::set<BlockKey> keys;
  for (Index k = 0; k < n; ++k)
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis) {
          const Index to[3] = {i + (axis == 0), j + (axis == 1), k + (axis == 2)};
          if (std::max({to[0], to[1], to[2]}) >= n) continue;
          Vector3 r(direction(random), direction(random), direction(random));
          r[axis] = 1;
          r.normalize();
          contacts.push_back({number(i, j, k), number(to[0], to[1], to[2]),
                              std::pow(10, exponent(random)) * (r * r.transpose())});
          keys.insert(block_key(contacts.back().a, contacts.back().b));
        }
  const std::vector<BlockKey> sorted(keys.begin(), keys.end());
  BlockSparse a(n * n * n, sorted);
  for (Index b = 0; b < a.block_count(); ++b) a.add(a.slot(b, b), Matrix3::Identity());
  for (const Contact& c : contacts) {
    const auto [low, high] = std::minmax(c.a, c.b);
    a.add(a.slot(low, low), c.stiffness);
    a.add(a.slot(high, high), c.stiffness);
    a.add(a.slot(high, low), -c.stiffness);
  }
  return a;
}

TEST(ConjugateGradient, FindsWhatAFactorisationFinds) {
  const BlockSparse a = pressed_grains(8, 1);
  const VectorX b = VectorX::Random(3 * a.block_count());
  const auto direct = make_linear_solver("cholesky");
  direct->analyse(a);
  const VectorX exact = direct->solve(a, b).x;
  ASSERT_GT(exact.size(), 0);
  ConjugateGradient gradients;
  gradients.set_matrix(a);
  const auto x = gradients.solve(b, {});
  ASSERT_TRUE(x);
  EXPECT_LT((a.multiply(*x) - b).norm(), 2e-9 * b.norm());
  EXPECT_LT((*x - exact).norm(), 1e-7 * exact.norm());
  EXPECT_LT(gradients.iterations(), 200);
}

TEST(ConjugateGradient, GivesTheSameBitsForAnyNumberOfThreads) {
  const BlockSparse a = pressed_grains(15, 2);
  const VectorX b = VectorX::Random(3 * a.block_count());
  std::vector<VectorX> found;
  for (const int threads : {1, 2, 4}) {
    set_thread_count(threads);
    ConjugateGradient gradients;
    gradients.set_matrix(a);
    const auto x = gradients.solve(b, {});
    ASSERT_TRUE(x);
    found.push_back(*x);
  }
  set_thread_count(0);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

TEST(ConjugateGradient, DividesLargeMatricesIntoPartsAndABorder) {
  const Index n = 18;  // more blocks than a part has
  const BlockSparse a = pressed_grains(n, 6);
  NearNullSpace space;
  space.positions.resize(3, n * n * n);
  space.modes.setZero(3 * space.positions.cols(), 6);
  for (Index b = 0; b < space.positions.cols(); ++b) {
    space.positions.col(b) = Vector3(b % n, b / n % n, b / (n * n));
    for (int k = 0; k < 3; ++k) {
      space.modes(3 * b + k, k) = 1;
      space.modes.block<3, 1>(3 * b, 3 + k) = Vector3::Unit(k).cross(Vector3(space.positions.col(b)));
    }
  }
  const VectorX b = VectorX::Random(3 * a.block_count());
  std::vector<VectorX> found;
  for (const int threads : {1, 2, 4}) {
    set_thread_count(threads);
    ConjugateGradient gradients;
    gradients.set_matrix(a, &space);
    const auto x = gradients.solve(b, {});
    ASSERT_TRUE(x);
    EXPECT_LT((a.multiply(*x) - b).norm(), 2e-9 * b.norm());
    found.push_back(*x);
  }
  set_thread_count(0);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

TEST(ConjugateGradient, SaysWhenItCannot) {
  BlockSparse a = pressed_grains(4, 3);
  const VectorX b = VectorX::Random(3 * a.block_count());
  ConjugateGradient gradients;
  gradients.set_matrix(a);
  EXPECT_FALSE(gradients.solve(b, {.max_iterations = 1}));
  EXPECT_FALSE(gradients.found_indefinite());
  // Indefinite as a whole, though every diagonal block is definite.
  a.add(a.slot(1, 0), -2 * a.at(0, 0) * Matrix3::Identity());
  gradients.set_matrix(a);
  EXPECT_FALSE(gradients.solve(b, {}));
  EXPECT_TRUE(gradients.found_indefinite());
}

volatile sig_atomic_t signals_met = 0;

TEST(LinearSolver, LeavesSignalsToTheProgram) {
  signals_met = 0;
  struct sigaction own {
  }, before{}, now{};
  own.sa_handler = [](int) { signals_met = signals_met + 1; };
  own.sa_flags = SA_RESETHAND;
  ::sigaction(SIGTERM, &own, &before);
  const BlockSparse a = pressed_grains(16, 5);
  const auto solver = make_linear_solver("cholesky", "metis");
  std::atomic<bool> changed = false, done = false;
  std::thread watch([&] {
    struct sigaction seen {};
    while (!done) {
      ::sigaction(SIGTERM, nullptr, &seen);
      if (seen.sa_handler != own.sa_handler) changed = true;
    }
  });
  for (int analyses = 0; analyses < 20; ++analyses) {
    solver->begin_step();  // an order is kept within a step
    solver->analyse(a);
  }
  done = true;
  watch.join();
  EXPECT_FALSE(changed);
  ::sigaction(SIGTERM, nullptr, &now);
  EXPECT_TRUE(now.sa_flags & SA_RESETHAND);  // a second signal ends the program at once

  // One that comes while an order is sought.
  std::thread sender([] { ::kill(::getpid(), SIGTERM); });
  while (signals_met == 0) {
    solver->begin_step();
    solver->analyse(a);
  }
  sender.join();
  EXPECT_EQ(signals_met, 1);
  ::sigaction(SIGTERM, &before, nullptr);
  const VectorX b = VectorX::Random(3 * a.block_count());
  EXPECT_LT((a.multiply(solver->solve(a, b).x) - b).norm(), 1e-7 * b.norm());
}

// What heaps of many grains depend on: one factor takes a minute there, a solution without it a second.
TEST(ConjugateGradient, SparesLargeHeapsTheFactorisationAlsoAfterAnIndefiniteMatrix) {
  BlockSparse heap = pressed_grains(32, 4);
  BlockSparse buckling = heap;
  buckling.add(buckling.slot(1, 0), -2 * heap.at(0, 0) * Matrix3::Identity());
  const VectorX b = VectorX::Random(3 * heap.block_count());
  const auto solver = make_linear_solver("cholesky");
  solver->analyse(heap);
  ASSERT_GT(solver->predicted_flops(), 1e11);
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(solver->solve(buckling, b, {.optional = true}).status, LinearSolution::Status::indefinite);
    EXPECT_LT((heap.multiply(solver->solve(heap, b).x) - b).norm(), 2e-9 * b.norm());
  }
  EXPECT_EQ(solver->statistics().factorisations, 0);
}

}  // namespace
}  // namespace apart::test
