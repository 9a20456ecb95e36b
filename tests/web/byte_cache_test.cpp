#include <gtest/gtest.h>
#include <apart/web/byte_cache.hpp>

namespace apart::test {
namespace {

TEST(ByteCache, KeepsWhatWasUsedLastWithinItsLimit) {
  ByteCache<int> cache(100);
  for (int i = 0; i < 10; ++i) cache.put(std::to_string(i), std::make_shared<int>(i), 10);
  EXPECT_EQ(cache.bytes(), 100u);
  ASSERT_TRUE(cache.find("0"));  // now the one used last
  cache.put("10", std::make_shared<int>(10), 20);
  EXPECT_LE(cache.bytes(), 100u);
  EXPECT_EQ(*cache.find("0"), 0);
  EXPECT_FALSE(cache.find("1"));
  EXPECT_FALSE(cache.find("2"));
  EXPECT_EQ(*cache.find("3"), 3);
}

TEST(ByteCache, KeepsTheLastEvenIfItIsTooLarge) {
  ByteCache<int> cache(100);
  cache.put("small", std::make_shared<int>(1), 50);
  cache.put("large", std::make_shared<int>(2), 500);
  EXPECT_FALSE(cache.find("small"));
  EXPECT_EQ(*cache.find("large"), 2);
  cache.put("large", std::make_shared<int>(3), 5);
  EXPECT_EQ(cache.bytes(), 5u);
  EXPECT_EQ(*cache.find("large"), 3);
}

}  // namespace
}  // namespace apart::test
