#include <gtest/gtest.h>
#include <apart/core/parallel.hpp>
#include <apart/core/radix_sort.hpp>

#include <algorithm>
#include <numeric>
#include <random>

namespace apart::test {
namespace {

TEST(RadixSort, IsTheStableOrderForAnyNumberOfThreads) {
  std::mt19937_64 engine(1);
  for (const Index count : {0, 1, 2, 1000, 50000})
    for (const int bits : {0, 3, 20, 64}) {
      std::vector<std::uint64_t> keys(count);
      for (auto& key : keys) key = bits == 0 ? 7 : engine() >> (64 - bits) << (bits == 20 ? 30 : 0);
      std::vector<Index> expected(count);
      std::iota(expected.begin(), expected.end(), 0);
      std::stable_sort(expected.begin(), expected.end(), [&](Index a, Index b) { return keys[a] < keys[b]; });
      for (const int threads : {1, 3}) {
        set_thread_count(threads);
        EXPECT_EQ(sorted_order(keys), expected) << count << " keys of " << bits << " bits";
      }
      set_thread_count(1);
    }
}

}  // namespace
}  // namespace apart::test
