#include <gtest/gtest.h>
#include <apart/core/diagnostics.hpp>

#include <chrono>
#include <numeric>
#include <regex>
#include <thread>
#include <vector>

namespace apart::test {
namespace {

using Clock = std::chrono::steady_clock;

double of(const Timings& timings, Phase phase) {
  return timings.seconds()[std::size_t(phase)];
}

void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(Timings, InnerScopeIsNotCountedForTheOuterOne) {
  const auto before = Clock::now();
  Timings timings;
  {
    const auto outer = timings.measure(Phase::assembly);
    pause(10);
    {
      const auto inner = timings.measure(Phase::ccd);
      pause(40);
    }
    pause(10);
  }
  pause(10);
  const auto seconds = timings.seconds();
  const double elapsed = std::chrono::duration<double>(Clock::now() - before).count();

  EXPECT_GE(seconds[std::size_t(Phase::assembly)], 0.020);
  EXPECT_GE(seconds[std::size_t(Phase::ccd)], 0.040);
  EXPECT_GE(seconds[std::size_t(Phase::other)], 0.010);
  // Were the inner 40 ms counted twice, the parts would exceed the whole.
  EXPECT_LE(std::accumulate(seconds.begin(), seconds.end(), 0.0), elapsed);
}

TEST(Timings, ScopesOfTheSamePhaseAddUp) {
  Timings timings;
  for (int i = 0; i < 3; ++i) {
    const auto scope = timings.measure(Phase::linear_solve);
    pause(5);
  }
  EXPECT_GE(of(timings, Phase::linear_solve), 0.015);
  EXPECT_EQ(of(timings, Phase::assembly), 0.0);
}

TEST(Timings, AnOpenScopeIsCountedUpToNow) {
  Timings timings;
  const auto scope = timings.measure(Phase::output);
  pause(5);
  const double first = of(timings, Phase::output);
  EXPECT_GE(first, 0.005);
  pause(5);
  EXPECT_GE(of(timings, Phase::output), first + 0.005);
}

TEST(Timings, AScopeEndsWhenAnExceptionLeavesIt) {
  Timings timings;
  try {
    const auto scope = timings.measure(Phase::ccd);
    throw 1;
  } catch (int) {
  }
  const double ccd = of(timings, Phase::ccd);
  pause(5);
  EXPECT_EQ(of(timings, Phase::ccd), ccd);
  EXPECT_GE(of(timings, Phase::other), 0.005);
}

TEST(Process, CpuTimeGrowsWithWorkAndNotWithSleep) {
  const double before_sleep = process_cpu_seconds();
  pause(100);
  const double before_work = process_cpu_seconds();
  EXPECT_LT(before_work - before_sleep, 0.05);
  volatile double sink = 0;
  while (process_cpu_seconds() < before_work + 0.02)
    for (int i = 0; i < 10'000; ++i) sink = sink + i;
  EXPECT_GE(process_cpu_seconds() - before_work, 0.02);
}

TEST(Process, PeakMemoryCoversWhatWasTouched) {
  const std::size_t before = process_peak_bytes();
  const std::vector<char> block(before + (64u << 20), 1);  // larger than all the process had before
  EXPECT_GE(process_peak_bytes(), before + (64u << 20) + std::size_t(block.front()) - 1);
}

TEST(Version, HasThreeNumbers) {
  EXPECT_TRUE(std::regex_match(version(), std::regex(R"(\d+\.\d+\.\d+)"))) << version();
}

}  // namespace
}  // namespace apart::test
