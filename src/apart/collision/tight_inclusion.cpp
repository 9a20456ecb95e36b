#include <apart/collision/ccd_methods.hpp>
#include <apart/collision/tight_inclusion_search.hpp>

#include <experimental/simd>
#ifdef __AVX__
#include <immintrin.h>
#endif

namespace apart {

namespace {

namespace stdx = std::experimental;

/// Four doubles in vector registers: one of AVX2, or what the target of the build has.
struct VectorOperations {
  using Lanes = stdx::simd<double, stdx::simd_abi::deduce_t<double, 4>>;
  [[gnu::always_inline]] static Lanes of(double x, double y, double z, double w) {
    // Not through memory: a vector load would have to wait for the single stores before it.
    return Lanes([&](auto i) { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; });
  }
  [[gnu::always_inline]] static Lanes min(Lanes a, Lanes b) { return stdx::min(a, b); }
  [[gnu::always_inline]] static Lanes max(Lanes a, Lanes b) { return stdx::max(a, b); }
  [[gnu::always_inline]] static Lanes abs(Lanes a) { return stdx::abs(a); }
  /// Bit i is set if the number i is negative. There is no −0 and no NaN.
  [[gnu::always_inline]] static unsigned negative(Lanes a) {
#ifdef __AVX__
    return unsigned(_mm256_movemask_pd(static_cast<__m256d>(a)));
#else
    unsigned bits = 0;
    for (int i = 0; i < 4; ++i) bits |= unsigned(a[i] < 0) << i;
    return bits;
#endif
  }
  static double first_three_sum(Lanes a) {
    return a[0] + a[1] + a[2];
  }
};

}  // namespace

std::optional<double> tight_inclusion_ccd(const CcdQuery& query, const CcdOptions& options) {
  thread_local TightInclusion<VectorOperations> method;  // keeps its memory
  return method.run(query, options);
}

}  // namespace apart
