#include "machine.hpp"

#include <apart/solver/dense_blas.hpp>

#include <algorithm>
#include <ctime>
#include <vector>

namespace apart::bench {

namespace {

/// CPU time, since others may use the machine.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

template <class Work>
double best_of(int tries, const Work& work) {
  double best = 1e300;
  for (int i = 0; i < tries; ++i) {
    const double start = now();
    work();
    best = std::min(best, now() - start);
  }
  return best;
}

}  // namespace

MachineRates measure_machine() {
  prepare_blas();
  MachineRates rates;
  {
    const int n = 1000;
    std::vector<double> a(std::size_t(n) * n, 1.1), b = a, c = a;
    const double t = best_of(8, [&] {
      blas::subtract_product({a.data(), n, n, n}, {b.data(), n, n, n}, 0, {c.data(), n, n, n});
    });
    rates.gemm = 2.0 * n * n * n / t;
  }
  {
    const std::size_t n = 8u << 20;  // 64 MB each
    std::vector<double> a(n, 0.0), b(n, 1.0), c(n, 2.0);
    double s = 3;
    const double t = best_of(8, [&] {
      for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + s * c[i];
      s = a[n / 2] / 3;  // what is computed is used
    });
    rates.bandwidth = 24.0 * double(n) / t;
  }
  return rates;
}

}  // namespace apart::bench
