#include <apart/potentials/joints.hpp>

#include <apart/math/psd_projection.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace apart {

namespace {

/// The part of u vᵀ + v uᵀ that is not negative, as w wᵀ: its eigenvectors are u/‖u‖ ± v/‖v‖.
VectorX positive_part(const VectorX& u, const VectorX& v) {
  const double lengths = u.norm() * v.norm();
  const double largest = u.dot(v) + lengths;  // eigenvalue; the other one is u·v − ‖u‖ ‖v‖ ≤ 0
  if (!(lengths > 0 && largest > 0)) return VectorX::Zero(u.size());
  const VectorX sum = u / u.norm() + v / v.norm();
  const double length = sum.norm();
  return length > 0 ? VectorX(sum * (std::sqrt(largest) / length)) : VectorX::Zero(u.size());
}

/// Adds factor (u vᵀ + v uᵀ) ⊗ I, the second derivatives of a product of vectors with weights u and v.
void add_product_hessian(const VectorX& u, const VectorX& v, double factor, Projection projection,
                         Eigen::Ref<Eigen::MatrixXd> hessian) {
  const VectorX w = projection != Projection::none ? positive_part(u, factor * v) : VectorX();
  for (Index i = 0; i < Index(u.size()); ++i)
    for (Index j = 0; j < Index(u.size()); ++j)
      hessian.block<3, 3>(3 * i, 3 * j).diagonal().array() +=
          projection != Projection::none ? w[i] * w[j] : factor * (u[i] * v[j] + v[i] * u[j]);
}

/// An angle and what its derivatives are made of: with f = a·b + i a·c = r exp(iθ),
///   ∇θ = Im ∇f/f,    ∇²θ = Im ∇²f/f − ∇θ ∇(ln r)ᵀ − ∇(ln r) ∇θᵀ.
struct Angle {
  Angle(const JointCoordinate& at, const Matrix3X& q) : of(at) {
    a = of.a.at(of.nodes, q);
    b = of.b.at(of.nodes, q);
    c = of.c.at(of.nodes, q);
    x = a.dot(b);
    y = a.dot(c);
    squared = x * x + y * y;
  }
  bool is_defined() const { return squared > 0; }
  double value() const { return is_defined() ? std::atan2(y, x) : 0; }
  /// ∇θ and ∇ ln r.
  std::pair<VectorX, VectorX> gradients() const {
    const VectorX gx = product_gradient(of.a, a, of.b, b), gy = product_gradient(of.a, a, of.c, c);
    return {(x * gy - y * gx) / squared, (x * gx + y * gy) / squared};
  }
  const JointCoordinate& of;
  Vector3 a, b, c;
  double x, y, squared;
};

}  // namespace

double JointCoordinate::value(const Matrix3X& q) const {
  if (kind == Kind::product) return a.at(nodes, q).dot(b.at(nodes, q));
  const double angle = Angle(*this, q).value(), turn = 2 * std::numbers::pi;
  return angle + turn * std::round((near - angle) / turn);
}

VectorX JointCoordinate::gradient(const Matrix3X& q) const {
  if (kind == Kind::product) return product_gradient(a, a.at(nodes, q), b, b.at(nodes, q));
  const Angle angle(*this, q);
  return angle.is_defined() ? angle.gradients().first : VectorX::Zero(Index(3 * nodes.size()));
}

void JointCoordinate::add_hessian(const Matrix3X& q, double factor, Projection projection,
                                  Eigen::Ref<Eigen::MatrixXd> hessian) const {
  if (factor == 0) return;
  if (kind == Kind::product) {
    if (a.moves() && b.moves()) add_product_hessian(a.weights, b.weights, factor, projection, hessian);
    return;
  }
  const Angle angle(*this, q);
  if (!angle.is_defined()) return;
  const VectorX across = (angle.x * c.weights - angle.y * b.weights) / angle.squared;  // Im ∇²f/f
  add_product_hessian(a.weights, across, factor, projection, hessian);
  const auto [turn, growth] = angle.gradients();
  if (projection != Projection::none) {
    const VectorX w = positive_part(turn, -factor * growth);
    hessian += w * w.transpose();
  } else {
    hessian -= factor * (turn * growth.transpose() + growth * turn.transpose());
  }
}

double JointLaw::force(double c) const {
  return std::clamp(multiplier + stiffness * (c - target), lower, upper);
}

double JointLaw::energy(double c) const {
  const double f = force(c), change = f - multiplier;
  return f * (c - target) - change * change / (2 * stiffness);
}

double JointLaw::curvature(double c) const {
  const double f = multiplier + stiffness * (c - target);
  return f > lower && f < upper ? stiffness : 0;
}

double JointLaw::error(double c) const {
  return elastic ? 0 : std::abs(force(c) - multiplier) / stiffness;
}

namespace {

/// Energy, force and curvature of all laws of a row or turn at the value of its coordinate.
template <class Laws, class Value>
double energy_of(const Laws& laws, const Value& c) {
  double sum = 0;
  for (const auto& law : laws) sum += law.energy(c);
  return sum;
}
template <class Laws, class Value>
Value force_of(const Laws& laws, const Value& c) {
  Value sum = laws[0].force(c);
  for (std::size_t l = 1; l < laws.size(); ++l) sum += laws[l].force(c);
  return sum;
}

void row_hessian(const Joints::Row& row, const Matrix3X& q, double scale, Projection projection,
                 Eigen::Ref<Eigen::MatrixXd> h) {
  const double c = row.coordinate.value(q);
  double curvature = 0;
  for (const JointLaw& law : row.laws) curvature += law.curvature(c);
  if (curvature > 0) {
    const VectorX g = row.coordinate.gradient(q);
    h += scale * curvature * g * g.transpose();
  }
  row.coordinate.add_hessian(q, scale * force_of(row.laws, c), projection, h);
}

void turn_hessian(const Joints::Turn& turn, const Matrix3X& q, double scale, Projection projection,
                  Eigen::Ref<Eigen::MatrixXd> h) {
  const Vector3 w = turn.coordinate.value(q);
  Matrix3 curvature = Matrix3::Zero();
  for (const TurnLaw& law : turn.laws) curvature += law.curvature(w);
  const auto g = turn.coordinate.gradient(q);
  h += scale * g * curvature * g.transpose();
  turn.coordinate.add_hessian(q, scale * force_of(turn.laws, w), h);
  if (projection != Projection::none) make_positive(h, NegativeEigenvalues::zeroed);
}

}  // namespace

double Joints::value(const Matrix3X& q) const {
  return scale * ordered_sum(term_count(), [&](Index i) {
           return is_row(i) ? energy_of(row(i).laws, row(i).coordinate.value(q))
                            : energy_of(turn(i).laws, turn(i).coordinate.value(q));
         });
}

void Joints::add_gradient(const Matrix3X& q, Matrix3X& gradient) const {
  add_local_gradients(*this, gradient, [&](Index i, auto g) {
    if (is_row(i)) {
      const double force = force_of(row(i).laws, row(i).coordinate.value(q));
      if (force != 0) g = scale * force * row(i).coordinate.gradient(q);
    } else {
      const JointTurn& c = turn(i).coordinate;
      g = c.gradient(q) * (scale * force_of(turn(i).laws, c.value(q)));
    }
  });
}

void Joints::hessians(const Matrix3X& q, Index begin, Index end, Projection projection,
                      LocalHessians& out) const {
  for (Index i = begin; i < end; ++i) {
    auto h = out[i];
    h.setZero();
    if (is_row(i))
      row_hessian(row(i), q, scale, projection, h);
    else
      turn_hessian(turn(i), q, scale, projection, h);
  }
}

}  // namespace apart
