#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace apart {

/// Eigenvalues and orthonormal eigenvectors of a symmetric N × N matrix, in no order. Householder reduction
/// to tridiagonal form, then implicit QL rotations [Golub, Van Loan: Matrix Computations, 8.3]. Plain loops
/// over arrays: for these sizes as fast as Eigen's solver, which takes ten seconds to compile for each size.
template <int N>
class SymmetricEigen {
  using Row = std::array<double, std::size_t(N)>;

 public:
  std::array<Row, std::size_t(N)> vectors;  ///< one in each row
  Row values;

  /// Of a(i, j), lower triangle. Entries that are not finite give values that are not a number.
  template <class Matrix>
  explicit SymmetricEigen(const Matrix& a) {
    double largest = 0, sum = 0;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j <= i; ++j) {
        vectors[i][j] = vectors[j][i] = a(i, j);
        largest = std::max(largest, std::abs(a(i, j)));
        sum += a(i, j) * 0;
      }
    if (sum != 0) {  // not finite somewhere, which tests for small entries would hide
      values.fill(std::numeric_limits<double>::quiet_NaN());
      return;
    }
    // Scaled, so that no square overflows or vanishes.
    const double scale = largest > 0 ? largest : 1;
    for (Row& row : vectors)
      for (double& entry : row) entry /= scale;
    tridiagonalise();
    rotate();
    for (double& value : values) value *= scale;
  }

 private:
  /// A = Qᵀ T Q: Q to `vectors`, the diagonal of T to `values`, its subdiagonal to `below_`.
  void tridiagonalise() {
    auto& a = vectors;
    std::array<Row, std::size_t(N)> reflected{};  // H = I − f u uᵀ: u of each column
    Row factor{};
    for (int k = 0; k + 2 < N; ++k) {
      Row& u = reflected[k];
      double rest = 0;
      for (int i = k + 2; i < N; ++i) rest += a[i][k] * a[i][k];
      const double head = a[k + 1][k];
      if (rest <= std::numeric_limits<double>::min()) {
        below_[k] = head;
        continue;
      }
      const double length = std::copysign(std::sqrt(head * head + rest), head);
      u[k + 1] = 1;
      for (int i = k + 2; i < N; ++i) u[i] = a[i][k] / (head + length);
      const double f = factor[k] = (head + length) / length;
      below_[k] = -length;
      // H A H = A − u wᵀ − w uᵀ with w = p − (f/2)(p·u) u, p = f A u.
      Row w{};
      for (int i = k + 1; i < N; ++i)
        for (int j = k + 1; j < N; ++j) w[j] += a[i][j] * u[i];
      double along = 0;
      for (int i = k + 1; i < N; ++i) along += w[i] * u[i];
      for (int i = k + 1; i < N; ++i) w[i] = f * (w[i] - 0.5 * f * along * u[i]);
      for (int i = k + 1; i < N; ++i)
        for (int j = k + 1; j < N; ++j) a[i][j] -= u[i] * w[j] + w[i] * u[j];
    }
    if constexpr (N > 1) below_[N - 2] = a[N - 1][N - 2];
    below_[N - 1] = 0;
    for (int i = 0; i < N; ++i) values[i] = a[i][i];
    // Q = … H₁ H₀, the last first: each H from the right changes rows and columns after its own only.
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) a[i][j] = i == j;
    for (int k = N - 3; k >= 0; --k) {
      const Row& u = reflected[k];
      if (factor[k] == 0) continue;
      for (int i = k + 1; i < N; ++i) {
        double along = 0;
        for (int j = k + 1; j < N; ++j) along += a[i][j] * u[j];
        along *= factor[k];
        for (int j = k + 1; j < N; ++j) a[i][j] -= along * u[j];
      }
    }
  }

  /// Rotations that make T diagonal, applied to the rows of `vectors`.
  void rotate() {
    constexpr double small = std::numeric_limits<double>::epsilon();
    Row& d = values;
    Row& e = below_;
    for (int l = 0; l < N; ++l)
      for (int iteration = 0; iteration < 50; ++iteration) {
        int m = l;
        while (m + 1 < N && std::abs(e[m]) > small * (std::abs(d[m]) + std::abs(d[m + 1])) &&
               std::abs(e[m]) > std::numeric_limits<double>::min())
          ++m;
        if (m == l) break;
        // Wilkinson's shift.
        const double half = (d[l + 1] - d[l]) / (2 * e[l]);
        double g = d[m] - d[l] + e[l] / (half + std::copysign(std::sqrt(half * half + 1), half));
        double s = 1, c = 1, p = 0;
        int i = m - 1;
        for (; i >= l; --i) {
          const double f = s * e[i], b = c * e[i];
          const double r = std::sqrt(f * f + g * g);
          e[i + 1] = r;
          if (r == 0) {  // T decouples here
            d[i + 1] -= p;
            e[m] = 0;
            break;
          }
          s = f / r;
          c = g / r;
          g = d[i + 1] - p;
          const double t = (d[i] - g) * s + 2 * c * b;
          p = s * t;
          d[i + 1] = g + p;
          g = c * t - b;
          Row &upper = vectors[i], &lower = vectors[i + 1];
          for (int k = 0; k < N; ++k) {
            const double x = upper[k], y = lower[k];
            lower[k] = s * x + c * y;
            upper[k] = c * x - s * y;
          }
        }
        if (i >= l) continue;
        d[l] -= p;
        e[l] = g;
        e[m] = 0;
      }
  }

  Row below_;
};

}  // namespace apart
