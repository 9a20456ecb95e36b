#pragma once
// The routines of BLAS and LAPACK that factorisations use, for matrices stored column by column. They use one
// thread, so that their sums have a fixed order.
#include <cstddef>

namespace apart {

/// To be called before the others: limits BLAS to one thread, and has it use the vector instructions of the
/// processor. OpenBLAS chooses its kernels by the model of the processor, and for those that are newer than
/// the library it takes kernels of 2004, which are three times slower.
void prepare_blas();

/// Ends the threads that OpenBLAS starts when a program is loaded. They have nothing to do here, where every
/// call uses one thread, but wait in a loop, which takes more CPU time than some runs. For the beginning of a
/// program; harmless with another BLAS.
void stop_blas_threads();

/// A matrix inside a larger one: entry (i, j) is data[i + j · stride].
struct DenseView {
  double* data;
  int rows, columns, stride;
};
struct ConstDenseView {
  ConstDenseView(const double* d, int r, int c, int s) : data(d), rows(r), columns(c), stride(s) {}
  ConstDenseView(const DenseView& v) : data(v.data), rows(v.rows), columns(v.columns), stride(v.stride) {}
  const double* data;
  int rows, columns, stride;
};

namespace blas {

/// c ← beta c − a bᵀ
void subtract_product(const ConstDenseView& a, const ConstDenseView& b, double beta, const DenseView& c);
/// The lower triangle of c ← beta c − a aᵀ.
void subtract_square(const ConstDenseView& a, double beta, const DenseView& c);
/// The lower triangle of a ← L with L Lᵀ = a. False if a is not positive definite to working precision.
bool factorise(const DenseView& a);
/// b ← b L⁻ᵀ, L the lower triangle of l.
void solve_from_right(const ConstDenseView& l, const DenseView& b);
void solve_lower(const ConstDenseView& l, double* x);                           ///< x ← L⁻¹ x
void solve_transposed(const ConstDenseView& l, double* x);                      ///< x ← L⁻ᵀ x
void subtract_multiplied(const ConstDenseView& a, const double* x, double* y);  ///< y ← y − a x
void subtract_transposed(const ConstDenseView& a, const double* x, double* y);  ///< y ← y − aᵀ x

}  // namespace blas

}  // namespace apart
