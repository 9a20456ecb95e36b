// Linked to the tests when the thread sanitizer looks: everything runs on several threads, not only what asks
// for it.
#include <apart/core/parallel.hpp>

#include <gtest/gtest.h>

namespace {

class Parallel : public ::testing::Environment {
  void SetUp() override { apart::set_thread_count(4); }
};

[[maybe_unused]] const auto* const registered = ::testing::AddGlobalTestEnvironment(new Parallel);

}  // namespace
