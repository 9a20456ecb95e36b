#include <gtest/gtest.h>
#include <apart/core/parallel.hpp>
#include <apart/solver/conjugate_gradient.hpp>
#include <apart/solver/linear_solver.hpp>

#include <random>
#include <set>

namespace apart {
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
  for (Index b = 0; b < a.block_count(); ++b) a.add(a.slot(b, b), b, Matrix3::Identity());
  for (const Contact& c : contacts) {
    const auto [low, high] = std::minmax(c.a, c.b);
    a.add(a.slot(low, low), low, c.stiffness);
    a.add(a.slot(high, high), high, c.stiffness);
    a.add(a.slot(high, low), low, -c.stiffness);
  }
  return a;
}

TEST(ConjugateGradient, FindsWhatAFactorisationFinds) {
  const BlockSparse a = pressed_grains(8, 1);
  const VectorX b = VectorX::Random(3 * a.block_count());
  const auto direct = make_linear_solver("cholmod");
  direct->analyse(a);
  ASSERT_TRUE(direct->factorise(a));
  const VectorX exact = direct->solve(b);
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

TEST(ConjugateGradient, SaysWhenItCannot) {
  BlockSparse a = pressed_grains(4, 3);
  const VectorX b = VectorX::Random(3 * a.block_count());
  ConjugateGradient gradients;
  gradients.set_matrix(a);
  EXPECT_FALSE(gradients.solve(b, {.max_iterations = 1}));
  a.at(0, 0) = -1e6;  // indefinite
  gradients.set_matrix(a);
  EXPECT_FALSE(gradients.solve(b, {}));
}

}  // namespace
}  // namespace apart
