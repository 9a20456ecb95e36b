#include <apart/materials/linear_elasticity.hpp>

namespace apart {

namespace {

Matrix3 small_strain(const Matrix3& f) {
  return 0.5 * (f + f.transpose()) - Matrix3::Identity();
}

}  // namespace

double LinearElasticity::energy(const Matrix3& f) const {
  const Matrix3 strain = small_strain(f);
  const double trace = strain.trace();
  return lame.mu * strain.squaredNorm() + 0.5 * lame.lambda * trace * trace;
}

Matrix3 LinearElasticity::stress(const Matrix3& f) const {
  const Matrix3 strain = small_strain(f);
  return 2 * lame.mu * strain + lame.lambda * strain.trace() * Matrix3::Identity();
}

Matrix3 LinearElasticity::tangent(const Vector3& a, const Vector3& b) const {
  return lame.mu * (a.dot(b) * Matrix3::Identity() + b * a.transpose()) + lame.lambda * a * b.transpose();
}

}  // namespace apart
