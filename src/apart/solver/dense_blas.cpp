#include <apart/solver/dense_blas.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

// The interface of Fortran, which every BLAS has.
extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
            const int*, const double*, const int*, const double*, double*, const int*);
void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*,
            const double*, double*, const int*);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*,
            const double*, const int*, double*, const int*);
void dtrsv_(const char*, const char*, const char*, const int*, const double*, const int*, double*,
            const int*);
void dgemv_(const char*, const int*, const int*, const double*, const double*, const int*, const double*,
            const int*, const double*, double*, const int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
}

namespace apart {

namespace {

template <class Function>
Function* loaded(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Where OpenBLAS did not recognise the processor: has it choose again, told which kernels to take.
void choose_kernels() {
#if defined(__x86_64__)
  const auto name = loaded<char*()>("openblas_get_corename");
  const auto quit = loaded<void()>("gotoblas_dynamic_quit"), init = loaded<void()>("gotoblas_dynamic_init");
  constexpr const char* variable = "OPENBLAS_CORETYPE";
  if (!name || !quit || !init || std::getenv(variable) || std::string_view(name()) != "Prescott") return;
  __builtin_cpu_init();
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (!wide && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) return;
  ::setenv(variable, wide ? "SkylakeX" : "Haswell", 1);
  quit();
  init();
  ::unsetenv(variable);
#endif
}

constexpr double one = 1, minus_one = -1;
constexpr int step = 1;

}  // namespace

void prepare_blas() {
  static std::once_flag prepared;
  std::call_once(prepared, [] {
    if (const auto set_threads = loaded<void(int)>("openblas_set_num_threads")) set_threads(1);
    stop_blas_threads();  // OpenBLAS starts them again when their number is set, even to one
    choose_kernels();
  });
}

void stop_blas_threads() {
  if (const auto stop = loaded<int()>("blas_thread_shutdown_")) stop();
}

namespace blas {

void subtract_product(const ConstDenseView& a, const ConstDenseView& b, double beta, const DenseView& c) {
  dgemm_("N", "T", &c.rows, &c.columns, &a.columns, &minus_one, a.data, &a.stride, b.data, &b.stride, &beta,
         c.data, &c.stride);
}

void subtract_square(const ConstDenseView& a, double beta, const DenseView& c) {
  dsyrk_("L", "N", &c.rows, &a.columns, &minus_one, a.data, &a.stride, &beta, c.data, &c.stride);
}

bool factorise(const DenseView& a) {
  int info = 0;
  dpotrf_("L", &a.rows, a.data, &a.stride, &info);
  return info == 0;
}

void solve_from_right(const ConstDenseView& l, const DenseView& b) {
  dtrsm_("R", "L", "T", "N", &b.rows, &b.columns, &one, l.data, &l.stride, b.data, &b.stride);
}

void solve_lower(const ConstDenseView& l, double* x) {
  dtrsv_("L", "N", "N", &l.rows, l.data, &l.stride, x, &step);
}

void solve_transposed(const ConstDenseView& l, double* x) {
  dtrsv_("L", "T", "N", &l.rows, l.data, &l.stride, x, &step);
}

void subtract_multiplied(const ConstDenseView& a, const double* x, double* y) {
  dgemv_("N", &a.rows, &a.columns, &minus_one, a.data, &a.stride, x, &step, &one, y, &step);
}

void subtract_transposed(const ConstDenseView& a, const double* x, double* y) {
  dgemv_("T", &a.rows, &a.columns, &minus_one, a.data, &a.stride, x, &step, &one, y, &step);
}

}  // namespace blas

}  // namespace apart
