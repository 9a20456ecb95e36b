#include <gtest/gtest.h>
#include <apart/core/team.hpp>
#include <support/random.hpp>
#include <support/thread_team.hpp>

#include <mutex>

namespace apart::test {
namespace {

/// Numbers of a process whose sum depends on the order in which they are added.
std::vector<double> numbers_of(int rank, std::size_t count) {
  Random random(unsigned(rank) + 1);
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(random.uniform(-1, 1) * std::pow(10.0, rank));
  return numbers;
}

TEST(Team, SumsInTheOrderOfRanksAndGivesAllTheSameBits) {
  for (const int size : {1, 2, 3, 5})
    for (const std::size_t count : {0u, 1u, 64u, 65u, 1000u}) {
      std::vector<double> expected(count, 0);
      for (int r = 0; r < size; ++r) {
        const std::vector<double> numbers = numbers_of(r, count);
        for (std::size_t i = 0; i < count; ++i) expected[i] = r == 0 ? numbers[i] : expected[i] + numbers[i];
      }
      std::mutex mutex;
      as_team(size, [&](const Team& team) {
        std::vector<double> own = numbers_of(team.rank(), count);
        team.sum(own);
        const std::lock_guard lock(mutex);
        EXPECT_EQ(own, expected) << size << " processes, " << count << " numbers";
      });
    }
}

TEST(Team, AgreesOnExtremesAndOnWhatOneKnows) {
  std::mutex mutex;
  as_team(4, [&](const Team& team) {
    const double least = team.min(3.0 - team.rank()), most = team.max(3.0 - team.rank());
    const bool any = team.any(team.rank() == 2), none = team.any(false);
    const Bytes from_leader = team.from_leader(Bytes(std::size_t(team.rank()) + 5));
    const std::vector<int> own(std::size_t(team.rank()), team.rank());
    const std::vector<int> joined = team.joined(std::span<const int>(own));
    const std::lock_guard lock(mutex);
    EXPECT_EQ(least, 0);
    EXPECT_EQ(most, 3);
    EXPECT_TRUE(any);
    EXPECT_FALSE(none);
    EXPECT_EQ(from_leader.size(), 5u);
    EXPECT_EQ(joined, (std::vector{1, 2, 2, 3, 3, 3}));
  });
}

TEST(Team, SharesCoverEverythingOnce) {
  for (const Index count : {0, 1, 7, 1000, 2'000'000'000}) {
    std::vector<std::pair<Index, Index>> shares(3);
    as_team(3, [&](const Team& team) { shares[std::size_t(team.rank())] = team.share(count); });
    EXPECT_EQ(shares[0].first, 0);
    EXPECT_EQ(shares[0].second, shares[1].first);
    EXPECT_EQ(shares[1].second, shares[2].first);
    EXPECT_EQ(shares[2].second, count);
  }
}

}  // namespace
}  // namespace apart::test
