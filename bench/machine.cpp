#include "machine.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <ctime>
#include <stdexcept>
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
  // The BLAS that CHOLMOD brings along, on one thread as there.
  using Gemm =
      void (*)(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
               const int*, const double*, const int*, const double*, double*, const int*);
  const auto gemm = reinterpret_cast<Gemm>(dlsym(RTLD_DEFAULT, "dgemm_"));
  if (!gemm) throw std::runtime_error("no BLAS is loaded: dgemm_ was not found");
  using Setter = void (*)(int);
  if (const auto set_threads = reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads")))
    set_threads(1);
  MachineRates rates;
  {
    const int n = 1000;
    const double one = 1, zero = 0;
    std::vector<double> a(std::size_t(n) * n, 1.1), b = a, c = a;
    const double t = best_of(
        8, [&] { gemm("N", "N", &n, &n, &n, &one, a.data(), &n, b.data(), &n, &zero, c.data(), &n); });
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
