#include <gtest/gtest.h>
#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/core/parallel_tree.hpp>

#include <atomic>
#include <bit>
#include <chrono>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace apart::test {
namespace {

/// Restores one thread when a test ends, also by a failed assertion.
struct OneThreadAfterwards : testing::Test {
  ~OneThreadAfterwards() override { set_thread_count(1); }
};

using ParallelLoops = OneThreadAfterwards;
using OrderedReductions = OneThreadAfterwards;

/// Terms of many magnitudes and both signs: every other order of addition gives other bits.
std::vector<double> awkward_terms(Index count) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-30, 30);
  std::vector<double> terms(count);
  for (double& t : terms) t = std::ldexp(mantissa(random), exponent(random));
  return terms;
}

TEST_F(ParallelLoops, VisitEveryIndexExactlyOnce) {
  for (int threads : {1, 2, 4})
    for (Index count : {0, 1, 255, 256, 257, 10'000}) {
      set_thread_count(threads);
      std::vector<std::atomic<int>> visits(count);
      parallel_for(count, [&](Index i) { ++visits[i]; });
      for (Index i = 0; i < count; ++i)
        ASSERT_EQ(visits[i], 1) << i << " of " << count << ", threads " << threads;
    }
}

TEST_F(ParallelLoops, CutTheSameChunksForAnyNumberOfThreads) {
  for (int threads : {1, 2, 4}) {
    set_thread_count(threads);
    std::vector<Index> end_of(103, -1);  // indexed by begin
    parallel_chunks(103, 10, [&](Index begin, Index end) { end_of[begin] = end; });
    for (Index begin = 0; begin < 103; ++begin)
      ASSERT_EQ(end_of[begin], begin % 10 == 0 ? std::min(103, begin + 10) : -1) << "begin " << begin;
  }
}

TEST_F(ParallelLoops, StayOnAThreadThatAsksForIt) {
  set_thread_count(4);
  std::thread([] {
    const SerialLoops alone;
    parallel_for(
        1000, [here = std::this_thread::get_id()](Index) { EXPECT_EQ(std::this_thread::get_id(), here); }, 1);
  }).join();
}

TEST_F(ParallelLoops, VisitATreeChildrenFirstOrParentsFirst) {
  for (const int threads : {1, 2, 4}) {
    set_thread_count(threads);
    for (const Index count : {0, 1, 2, 40, 500}) {
      std::mt19937 random{unsigned(count)};
      std::vector<Index> parent;  // a random forest
      for (Index i = 0; i < count; ++i)
        parent.push_back(
            i + 1 < count && random() % 20 != 0 ? i + 1 + Index(random() % unsigned(count - i - 1)) : -1);
      std::vector<std::atomic<int>> visits(parent.size());
      std::atomic<int> early = 0;
      parallel_upward(parent, [&](Index i) {
        for (Index c = 0; c < i; ++c) early += parent[std::size_t(c)] == i && visits[std::size_t(c)] != 1;
        ++visits[std::size_t(i)];
      });
      parallel_downward(parent, [&](Index i) {
        const Index p = parent[std::size_t(i)];
        early += p >= 0 && visits[std::size_t(p)] != 2;
        ++visits[std::size_t(i)];
      });
      EXPECT_EQ(early, 0) << count << " nodes, threads " << threads;
      for (const auto& v : visits) EXPECT_EQ(v, 2);
    }
    const std::vector<Index> chain = {1, 2, 3, -1};
    const auto fails = [](Index i) {
      if (i == 2) throw InvariantError("third");
    };
    EXPECT_THROW(parallel_upward(chain, fails), InvariantError);
    EXPECT_THROW(parallel_downward(chain, fails), InvariantError);
  }
}

TEST_F(ParallelLoops, UseTwoThreadsAtTheSameTime) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "this machine has one core: run it where there are two";
  set_thread_count(2);
  // Each of two chunks waits for the other one to begin: possible only if both run at once.
  std::atomic<int> begun = 0;
  std::atomic<int> met = 0;
  parallel_chunks(2, 1, [&](Index, Index) {
    ++begun;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (begun < 2 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    if (begun == 2) ++met;
  });
  EXPECT_EQ(met, 2);
}

TEST_F(ParallelLoops, MayBeNested) {
  for (int threads : {1, 2, 4}) {
    set_thread_count(threads);
    std::vector<double> sums(50);
    parallel_for(
        50, [&](Index i) { sums[i] = ordered_sum(1000, [&](Index j) { return double(i * j); }); }, 1);
    for (Index i = 0; i < 50; ++i) ASSERT_EQ(sums[i], i * 499'500.0);
  }
}

TEST_F(ParallelLoops, HandTheExceptionOfABodyToTheCaller) {
  for (int threads : {1, 2, 4}) {
    set_thread_count(threads);
    try {
      parallel_for(10'000, [](Index i) {
        if (i == 7777) throw InputError("element {} is bad", i);
      });
      ADD_FAILURE() << "nothing was thrown with " << threads << " threads";
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "element 7777 is bad");
    }
    // The threads are still there afterwards.
    EXPECT_EQ(ordered_sum(1000, [](Index) { return 1.0; }), 1000.0);
  }
}

TEST_F(ParallelLoops, CountLessThanOneMeansAllCores) {
  set_thread_count(0);
  EXPECT_EQ(thread_count(), int(std::max(1u, std::thread::hardware_concurrency())));
  set_thread_count(3);
  EXPECT_EQ(thread_count(), 3);
}

TEST_F(OrderedReductions, SumHasTheSameBitsForAnyNumberOfThreads) {
  const auto terms = awkward_terms(100'003);
  const auto sum = [&] { return ordered_sum(Index(terms.size()), [&](Index i) { return terms[i]; }); };
  set_thread_count(1);
  const double reference = sum();

  // The terms are awkward enough: another order of addition gives other bits.
  double backwards = 0;
  for (std::size_t i = terms.size(); i-- > 0;) backwards += terms[i];
  ASSERT_NE(std::bit_cast<std::uint64_t>(backwards), std::bit_cast<std::uint64_t>(reference));
  ASSERT_NEAR(backwards, reference, 1e-6 * std::ldexp(1, 30));

  for (int threads : {2, 4})
    for (int repetition = 0; repetition < 50; ++repetition) {
      set_thread_count(threads);
      ASSERT_EQ(std::bit_cast<std::uint64_t>(sum()), std::bit_cast<std::uint64_t>(reference))
          << threads << " threads, repetition " << repetition;
    }
}

TEST_F(OrderedReductions, EmptyRangesGiveTheStart) {
  const auto never = [](Index) -> double { throw InvariantError("called for an empty range"); };
  EXPECT_EQ(ordered_sum(0, never), 0.0);
  EXPECT_EQ(parallel_min(0, 5.0, never), 5.0);
  EXPECT_EQ(parallel_max(0, 5.0, never), 5.0);
}

TEST_F(OrderedReductions, MinimumAndMaximumAreThoseOfTheTerms) {
  const auto terms = awkward_terms(5'001);
  const auto term = [&](Index i) { return terms[i]; };
  const double inf = std::numeric_limits<double>::infinity();
  for (int threads : {1, 2, 4}) {
    set_thread_count(threads);
    EXPECT_EQ(parallel_min(5'001, inf, term), *std::min_element(terms.begin(), terms.end()));
    EXPECT_EQ(parallel_max(5'001, -inf, term), *std::max_element(terms.begin(), terms.end()));
    EXPECT_EQ(parallel_min(5'001, -1e300, term), -1e300);
    EXPECT_EQ(parallel_max(5'001, 1e300, term), 1e300);
  }
}

}  // namespace
}  // namespace apart::test
