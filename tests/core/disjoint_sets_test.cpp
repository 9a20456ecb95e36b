#include <gtest/gtest.h>
#include <apart/core/disjoint_sets.hpp>

#include <random>

namespace apart::test {
namespace {

TEST(DisjointSets, AreNamedByTheirSmallestMembers) {
  DisjointSets sets(6);
  for (Index a = 0; a < 6; ++a) EXPECT_EQ(sets.find(a), a) << "each is alone at first";
  sets.join(5, 3);
  sets.join(4, 2);
  sets.join(3, 4);
  sets.join(3, 3);
  EXPECT_EQ(std::move(sets).names(), (std::vector<Index>{0, 1, 2, 2, 2, 2}));
}

TEST(DisjointSets, DoNotDependOnTheOrderOfJoining) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    constexpr Index count = 40;
    std::vector<std::pair<Index, Index>> joins(20);
    for (auto& [a, b] : joins) a = Index(random() % count), b = Index(random() % count);
    // By spreading the smallest number until nothing changes.
    std::vector<Index> expected(count);
    std::iota(expected.begin(), expected.end(), 0);
    for (Index pass = 0; pass < count; ++pass)
      for (const auto& [a, b] : joins)
        expected[std::size_t(a)] = expected[std::size_t(b)] =
            std::min(expected[std::size_t(a)], expected[std::size_t(b)]);
    for (int order = 0; order < 3; ++order) {
      std::shuffle(joins.begin(), joins.end(), random);
      DisjointSets sets(count);
      for (const auto& [a, b] : joins) sets.join(a, b);
      EXPECT_EQ(std::move(sets).names(), expected);
    }
  }
}

}  // namespace
}  // namespace apart::test
