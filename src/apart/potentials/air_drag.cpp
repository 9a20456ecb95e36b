#include <apart/potentials/air_drag.hpp>

#include <Eigen/Geometry>
#include <numbers>

namespace apart {

void AirDrag::set(double scale, double rate, Matrix3X origin, std::vector<Patch> patches) {
  scale_ = scale;
  rate_ = rate;
  origin_ = std::move(origin);
  patches_ = std::move(patches);
}

Vector3 AirDrag::moved(const Patch& patch, const Matrix3X& x) const {
  Vector3 d = Vector3::Zero();
  for (int k = 0; k < patch.points.size; ++k)
    d += x.col(patch.points.ids[k]) - origin_.col(patch.points.ids[k]);
  return d / patch.points.size;
}

double AirDrag::value(const Matrix3X& x) const {
  return scale_ * ordered_sum(term_count(), [&](Index i) {
           const Patch& p = patches_[i];
           const Vector3 d = moved(p, x);
           return (0.5 * rate_ * d - p.air).dot(p.resistance * d);
         });
}

void AirDrag::add_gradient(const Matrix3X& x, Matrix3X& gradient) const {
  add_local_gradients(*this, gradient, [&](Index i, auto g) {
    const Patch& p = patches_[i];
    const Vector3 force = scale_ / p.points.size * (p.resistance * (rate_ * moved(p, x) - p.air));
    for (int k = 0; k < p.points.size; ++k) g.template segment<3>(3 * k) = force;
  });
}

void AirDrag::hessians(const Matrix3X&, Index begin, Index end, Projection, LocalHessians& out) const {
  for (Index i = begin; i < end; ++i) {
    const Patch& p = patches_[i];
    auto h = out[i];
    const Matrix3 block = scale_ * rate_ / (p.points.size * p.points.size) * p.resistance;
    for (int a = 0; a < p.points.size; ++a)
      for (int b = 0; b < p.points.size; ++b) h.block<3, 3>(3 * a, 3 * b) = block;
  }
}

namespace {

/// With u split into its part along `axis` (unit) and across it.
Matrix3 resistance(double along, double across, const Vector3& axis, const Vector3& u) {
  const Matrix3 projector = axis * axis.transpose();
  const Vector3 part = projector * u;
  return along * part.norm() * projector + across * (u - part).norm() * (Matrix3::Identity() - projector);
}

}  // namespace

Matrix3 triangle_resistance(const DragCoefficients& c, const std::array<Vector3, 3>& x, const Vector3& u,
                            bool one_sided) {
  const Vector3 doubled = (x[1] - x[0]).cross(x[2] - x[0]);
  const double length = doubled.norm();
  if (!(length > 0)) return Matrix3::Zero();
  const Vector3 normal = doubled / length;
  const double half = 0.5 * c.density * 0.5 * length;
  const bool sheltered = one_sided && u.dot(normal) <= 0;
  return resistance(sheltered ? 0 : half * c.normal, half * c.tangential, normal, u);
}

Matrix3 segment_resistance(const DragCoefficients& c, const Vector3& a, const Vector3& b, double width,
                           const Vector3& u) {
  const double length = (b - a).norm();
  if (!(length > 0)) return Matrix3::Zero();
  const double half = 0.5 * c.density * width * length;
  return resistance(half * c.tangential, half * c.normal, (b - a) / length, u);
}

Matrix3 ball_resistance(const DragCoefficients& c, double radius, const Vector3& u) {
  return 0.5 * c.density * c.normal * std::numbers::pi * radius * radius * u.norm() * Matrix3::Identity();
}

}  // namespace apart
