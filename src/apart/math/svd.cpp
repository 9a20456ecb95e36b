#include <apart/core/error.hpp>
#include <apart/math/svd.hpp>

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <experimental/simd>

namespace apart {

namespace {

namespace stdx = std::experimental;

Vector3 any_orthogonal(const Vector3& u) {
  int axis;
  u.cwiseAbs().minCoeff(&axis);
  return u.cross(Vector3::Unit(axis)).normalized();
}

/// The same operations on as many matrices as `Lanes` has entries, each as if it were alone: what one of them
/// does not need is masked out.
template <class Lanes>
struct LanesSvd {
  using Mask = typename Lanes::mask_type;
  using Columns = std::array<std::array<Lanes, 3>, 3>;
  using Column = std::array<Lanes, 3>;

  Columns b, u, v;
  Column sigma;

  static Lanes dot(const Column& x, const Column& y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; }
  static Lanes squared_norm(const Column& x) { return dot(x, x); }
  static Column cross(const Column& x, const Column& y) {
    return {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
  }
  static Lanes selected(const Mask& which, const Lanes& yes, const Lanes& no) {
    Lanes result = no;
    where(which, result) = yes;
    return result;
  }

  /// Rotates columns i and j of b and v so that b's become orthogonal; false if all were to rounding.
  bool orthogonalise(std::size_t i, std::size_t j) {
    const Lanes alpha = squared_norm(b[i]), beta = squared_norm(b[j]), gamma = dot(b[i], b[j]);
    // Rounding of the three sums is a few 1e-16; a smaller bound might never be reached.
    const Mask rotates = gamma * gamma > 1e-30 * (alpha * beta);
    if (none_of(rotates)) return false;
    const Lanes zeta = (beta - alpha) / (2.0 * gamma);
    const Lanes t = copysign(1.0 / (abs(zeta) + sqrt(1.0 + zeta * zeta)), zeta);
    const Lanes c = 1.0 / sqrt(1.0 + t * t), s = c * t;
    for (Columns* m : {&b, &v})
      for (std::size_t k = 0; k < 3; ++k) {
        const Lanes mi = (*m)[i][k], mj = (*m)[j][k];
        where(rotates, (*m)[i][k]) = c * mi - s * mj;
        where(rotates, (*m)[j][k]) = s * mi + c * mj;
      }
    return true;
  }

  /// Swaps columns of b and v if b's second is the longer one, turning one around so that v stays a rotation.
  void sort_columns(std::size_t i, std::size_t j) {
    const Mask swaps = squared_norm(b[i]) < squared_norm(b[j]);
    if (none_of(swaps)) return;
    for (Columns* m : {&b, &v})
      for (std::size_t k = 0; k < 3; ++k) {
        const Lanes mi = (*m)[i][k];
        where(swaps, (*m)[i][k]) = (*m)[j][k];
        where(swaps, (*m)[j][k]) = -mi;
      }
  }

  /// Of b, which is lost.
  void decompose() {
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) v[i][k] = i == k ? 1.0 : 0.0;
    // A dozen sweeps are far more than convergence (quadratic) needs; the bound keeps non-finite input from
    // hanging.
    for (int sweep = 0; sweep < 12; ++sweep) {
      bool rotated = orthogonalise(0, 1);
      rotated |= orthogonalise(1, 2);
      rotated |= orthogonalise(0, 2);
      if (!rotated) break;
    }
    sort_columns(0, 1);
    sort_columns(0, 2);
    sort_columns(1, 2);

    sigma[0] = sqrt(squared_norm(b[0]));
    const Mask is_zero = !(sigma[0] > 0.0);
    for (std::size_t k = 0; k < 3; ++k) u[0][k] = selected(is_zero, k == 0 ? 1.0 : 0.0, b[0][k] / sigma[0]);
    const Lanes along = dot(u[0], b[1]);
    Column b1;
    for (std::size_t k = 0; k < 3; ++k) b1[k] = b[1][k] - along * u[0][k];
    sigma[1] = sqrt(squared_norm(b1));
    for (std::size_t k = 0; k < 3; ++k) u[1][k] = b1[k] / sigma[1];
    // A second column at rounding level has no direction of its own: any orthogonal one will do.
    const Mask has_direction = sigma[1] > 1e-15 * sigma[0];
    for (std::size_t lane = 0; lane < Lanes::size(); ++lane) {
      if (has_direction[lane]) continue;
      const Vector3 other = any_orthogonal({u[0][0][lane], u[0][1][lane], u[0][2][lane]});
      for (std::size_t k = 0; k < 3; ++k) u[1][k][lane] = other[Index(k)];
    }
    u[2] = cross(u[0], u[1]);
    sigma[2] = dot(u[2], b[2]);
  }
};

/// One matrix for each entry of `Lanes`.
template <class Lanes>
void decompose(const Matrix3* f, SignedSvd* results) {
  LanesSvd<Lanes> lanes;
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t k = 0; k < 3; ++k)
      lanes.b[j][k] = Lanes([&](auto lane) { return f[lane](Index(k), Index(j)); });
  lanes.decompose();
  for (std::size_t lane = 0; lane < Lanes::size(); ++lane)
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) {
        results[lane].u(Index(k), Index(j)) = lanes.u[j][k][lane];
        results[lane].v(Index(k), Index(j)) = lanes.v[j][k][lane];
      }
      results[lane].sigma[Index(j)] = lanes.sigma[j][lane];
    }
}

}  // namespace

SignedSvd signed_svd(const Matrix3& f) {
  SignedSvd result;
  decompose<stdx::simd<double, stdx::simd_abi::scalar>>(&f, &result);
  return result;
}

void signed_svds(std::span<const Matrix3> f, std::span<SignedSvd> results) {
  constexpr std::size_t width = 8;  // two registers of AVX2 each: one waits while the other computes
  using Lanes = stdx::simd<double, stdx::simd_abi::deduce_t<double, width>>;
  ensure(f.size() == results.size(), "as many results as matrices");
  std::size_t i = 0;
  for (; i + width <= f.size(); i += width) decompose<Lanes>(&f[i], &results[i]);
  for (; i < f.size(); ++i) results[i] = signed_svd(f[i]);
}

ThinSvd thin_svd(const Eigen::Matrix<double, 3, 2>& f) {
  ThinSvd r;
  const double alpha = f.col(0).squaredNorm(), beta = f.col(1).squaredNorm(), gamma = f.col(0).dot(f.col(1));
  double c = 1, s = 0;
  if (gamma * gamma > 1e-34 * (alpha * beta)) {
    const double zeta = (beta - alpha) / (2 * gamma);
    const double t = std::copysign(1 / (std::abs(zeta) + std::sqrt(1 + zeta * zeta)), zeta);
    c = 1 / std::sqrt(1 + t * t);
    s = c * t;
  }
  Vector3 b0 = c * f.col(0) - s * f.col(1), b1 = s * f.col(0) + c * f.col(1);
  r.v << c, s, -s, c;
  if (b0.squaredNorm() < b1.squaredNorm()) {
    const Vector3 other = b0;
    b0 = b1;
    b1 = -other;
    r.v << s, -c, c, s;
  }
  r.sigma[0] = b0.norm();
  r.u.col(0) = r.sigma[0] > 0 ? Vector3(b0 / r.sigma[0]) : Vector3::UnitX();
  b1 -= r.u.col(0).dot(b1) * r.u.col(0);
  r.sigma[1] = b1.norm();
  r.u.col(1) = r.sigma[1] > 1e-15 * r.sigma[0] ? Vector3(b1 / r.sigma[1]) : any_orthogonal(r.u.col(0));
  r.u.col(2) = r.u.col(0).cross(r.u.col(1));
  return r;
}

}  // namespace apart
