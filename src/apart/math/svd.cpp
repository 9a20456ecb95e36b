#include <apart/math/svd.hpp>

#include <Eigen/Geometry>
#include <cmath>
#include <limits>
#include <utility>

namespace apart {

namespace {

/// Rotates columns i and j of b and v so that b's become orthogonal; false if they were to rounding.
bool orthogonalise(Matrix3& b, Matrix3& v, int i, int j) {
  const double alpha = b.col(i).squaredNorm(), beta = b.col(j).squaredNorm(), gamma = b.col(i).dot(b.col(j));
  // Rounding of the three sums is a few 1e-16; a smaller bound might never be reached.
  if (!(gamma * gamma > 1e-30 * (alpha * beta))) return false;
  const double zeta = (beta - alpha) / (2 * gamma);
  const double t = std::copysign(1 / (std::abs(zeta) + std::sqrt(1 + zeta * zeta)), zeta);
  const double c = 1 / std::sqrt(1 + t * t), s = c * t;
  for (Matrix3* m : {&b, &v}) {
    const Vector3 mi = m->col(i), mj = m->col(j);
    m->col(i) = c * mi - s * mj;
    m->col(j) = s * mi + c * mj;
  }
  return true;
}

/// Swaps two columns of b and v, turning one around so that v stays a rotation.
void swap_columns(Matrix3& b, Matrix3& v, int i, int j) {
  for (Matrix3* m : {&b, &v}) {
    const Vector3 mi = m->col(i);
    m->col(i) = m->col(j);
    m->col(j) = -mi;
  }
}

Vector3 any_orthogonal(const Vector3& u) {
  int axis;
  u.cwiseAbs().minCoeff(&axis);
  return u.cross(Vector3::Unit(axis)).normalized();
}

}  // namespace

SignedSvd signed_svd(const Matrix3& f) {
  SignedSvd r;
  Matrix3 b = f;
  r.v.setIdentity();
  // A dozen sweeps are far more than convergence (quadratic) needs; the bound keeps non-finite input from
  // hanging.
  for (int sweep = 0; sweep < 12; ++sweep) {
    bool rotated = orthogonalise(b, r.v, 0, 1);
    rotated |= orthogonalise(b, r.v, 1, 2);
    rotated |= orthogonalise(b, r.v, 0, 2);
    if (!rotated) break;
  }
  if (b.col(0).squaredNorm() < b.col(1).squaredNorm()) swap_columns(b, r.v, 0, 1);
  if (b.col(0).squaredNorm() < b.col(2).squaredNorm()) swap_columns(b, r.v, 0, 2);
  if (b.col(1).squaredNorm() < b.col(2).squaredNorm()) swap_columns(b, r.v, 1, 2);

  r.sigma[0] = b.col(0).norm();
  r.u.col(0) = r.sigma[0] > 0 ? Vector3(b.col(0) / r.sigma[0]) : Vector3::UnitX();
  const Vector3 b1 = b.col(1) - r.u.col(0).dot(b.col(1)) * r.u.col(0);
  r.sigma[1] = b1.norm();
  // A second column at rounding level has no direction of its own: any orthogonal one will do.
  const bool has_direction = r.sigma[1] > 1e-15 * r.sigma[0];
  r.u.col(1) = has_direction ? Vector3(b1 / r.sigma[1]) : any_orthogonal(r.u.col(0));
  r.u.col(2) = r.u.col(0).cross(r.u.col(1));
  r.sigma[2] = r.u.col(2).dot(b.col(2));
  return r;
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
