#include <apart/potentials/springs.hpp>

#include <algorithm>

namespace apart {

namespace {

/// ∂d/∂(point k), times the identity.
double weight(const Springs::Spring& s, int k) {
  return k == 0 ? 1 : -s.weights[k - 1];
}

Vector3 extent(const Springs::Spring& s, const Matrix3X& x) {
  Vector3 d = Vector3::Zero();
  for (int k = 0; k < s.points.size; ++k) d += weight(s, k) * x.col(s.points.ids[k]);
  return d;
}

}  // namespace

void Springs::set(double scale, std::vector<Spring> springs) {
  scale_ = scale;
  springs_ = std::move(springs);
}

double Springs::value(const Matrix3X& x) const {
  return scale_ * ordered_sum(term_count(), [&](Index i) {
           const double stretch = extent(springs_[i], x).norm() - springs_[i].length;
           return 0.5 * springs_[i].stiffness * stretch * stretch;
         });
}

void Springs::add_gradient(const Matrix3X& x, Matrix3X& gradient) const {
  add_local_gradients(*this, gradient, [&](Index i, auto g) {
    const Spring& s = springs_[i];
    const Vector3 d = extent(s, x);
    const double length = d.norm();
    // A spring of length zero has no direction to push in.
    const Vector3 force =
        length > 0 ? Vector3(scale_ * s.stiffness * (1 - s.length / length) * d) : Vector3::Zero();
    for (int k = 0; k < s.points.size; ++k) g.template segment<3>(3 * k) = weight(s, k) * force;
  });
}

void Springs::hessians(const Matrix3X& x, Index begin, Index end, Projection projection,
                       LocalHessians& out) const {
  for (Index i = begin; i < end; ++i) {
    const Spring& s = springs_[i];
    auto h = out[i];
    const Vector3 d = extent(s, x);
    const double length = d.norm();
    // Along the spring k, across it the tension per length k (1 − ℓ/‖d‖): negative under pressure.
    double across = length > 0 ? 1 - s.length / length : (s.length > 0 ? 0 : 1);
    if (projection != Projection::none) across = std::max(across, 0.0);
    const Vector3 along = length > 0 ? Vector3(d / length) : Vector3::Zero();
    const Matrix3 block =
        scale_ * s.stiffness * (across * Matrix3::Identity() + (1 - across) * along * along.transpose());
    for (int a = 0; a < s.points.size; ++a)
      for (int b = 0; b < s.points.size; ++b)
        h.block<3, 3>(3 * a, 3 * b) = weight(s, a) * weight(s, b) * block;
  }
}

}  // namespace apart
