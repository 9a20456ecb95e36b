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

/// The libraries of TBB and Embree are not compiled with the sanitizer. Of what they do with their own
/// memory, some is seen all the same, in the functions they call that are, without the locks around it. What
/// runs in TBB's threads but is ours is seen in full; in Embree only the filter of RayScene is, which has
/// data of its own.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libtbb.so\nrace:libembree3.so\n";
}
