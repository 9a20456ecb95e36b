#include <gtest/gtest.h>
#include <apart/core/memory.hpp>
#include <support/temporary_directory.hpp>

#include <limits>
#include <string>

namespace apart::test {
namespace {

class Limit : public ::testing::Test {
 protected:
  ~Limit() override { set_memory_limit(std::numeric_limits<std::size_t>::max()); }
};

TEST_F(Limit, IsKeptWithAMessageThatSaysWhatForAndWhatToDo) {
  EXPECT_NO_THROW(ensure_memory(1e18, "dreams", "wake up")) << "without a limit";
  set_memory_limit(resident_bytes() + 1'000'000'000);
  EXPECT_NO_THROW(ensure_memory(1e8, "dreams", "wake up"));
  try {
    ensure_memory(2e9, "dreams", "wake up");
    FAIL();
  } catch (const MemoryError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("dreams need 2 GB"), text.npos) << text;
    EXPECT_NE(text.find("wake up, or allow more with --memory"), text.npos) << text;
  }
}

TEST_F(Limit, OfTheMachineIsKnown) {
  EXPECT_GT(resident_bytes(), 1'000'000u);
  EXPECT_GT(available_memory(), resident_bytes());
  EXPECT_LT(available_memory(), std::size_t(1) << 50);
}

TEST_F(Limit, OfControlGroupsIsTheLeastOnTheWayUp) {
  TemporaryDirectory d;
  namespace fs = std::filesystem;
  const std::size_t none = std::numeric_limits<std::size_t>::max();
  write_file(d / "own", "0::/a/b\n");
  fs::create_directories(d / "groups/a/b");
  EXPECT_EQ(control_group_limit(d / "groups", d / "own"), none);
  write_file(d / "groups/a/b/memory.max", "max\n");
  EXPECT_EQ(control_group_limit(d / "groups", d / "own"), none);
  write_file(d / "groups/a/memory.max", "500000000\n");
  EXPECT_EQ(control_group_limit(d / "groups", d / "own"), 500'000'000u);
  write_file(d / "groups/a/b/memory.max", "300000000\n");
  EXPECT_EQ(control_group_limit(d / "groups", d / "own"), 300'000'000u);
  write_file(d / "own", "5:cpu,memory:/c\n4:pids:/a/b\n");
  fs::create_directories(d / "groups/memory/c");
  write_file(d / "groups/memory/c/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(control_group_limit(d / "groups", d / "own"), none);
  write_file(d / "groups/memory/c/memory.limit_in_bytes", "200000000\n");
  EXPECT_EQ(control_group_limit(d / "groups", d / "own"), 200'000'000u);
}

}  // namespace
}  // namespace apart::test
