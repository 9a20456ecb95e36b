// Coverage for libFuzzer from code that GCC compiled. GCC calls __sanitizer_cov_trace_pc in every basic
// block; the linker leads those calls here (--wrap), because libFuzzer's own function of that name does
// nothing. Counters in the section __libfuzzer_extra_counters are read by libFuzzer as if they were its own.
// (Comparisons need nothing: GCC and Clang call the same functions for them.)
#include <cstdint>

extern "C" const char __executable_start;

namespace {

constexpr std::uintptr_t counter_count = 1 << 16;
__attribute__((section("__libfuzzer_extra_counters"))) std::uint8_t counters[counter_count];

}  // namespace

extern "C" void __wrap___sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) -
                     reinterpret_cast<std::uintptr_t>(&__executable_start);
  ++counters[(place ^ place >> 16) % counter_count];
}

// libFuzzer has no use for comparisons of floating-point numbers, which only GCC reports.
extern "C" void __sanitizer_cov_trace_cmpf(float, float) {}
extern "C" void __sanitizer_cov_trace_cmpd(double, double) {}
