#include <apart/potentials/joint_turn.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

namespace {

/// φ = θ / sin θ and its derivatives by v = (3 − tr R)/4 = sin²(θ/2).
struct TurnFactor {
  explicit TurnFactor(double v) {
    // φ = Σ aₙ vⁿ with a₀ = 1 and aₙ₊₁ = aₙ (2n + 2)/(2n + 3), also where rounding makes v negative; and
    // 2v (1 − v) φ′ = 1 − (1 − 2v) φ.
    if (v < 0.05) {
      double a = 1, power = 1;  // vⁿ⁻²
      value = 1 + v * (a *= 2.0 / 3);
      slope = a;
      for (int n = 2; n < 16; ++n) {
        a *= (2.0 * n) / (2 * n + 1);
        value += a * power * v * v;
        slope += a * n * power * v;
        curvature += a * n * (n - 1) * power;
        power *= v;
      }
      return;
    }
    v = std::min(v, 1 - 1e-12);  // at half a turn the axis is not defined
    const double z = std::sqrt(v), product = 2 * v * (1 - v);
    value = std::asin(z) / (z * std::sqrt(1 - v));
    slope = (1 - (1 - 2 * v) * value) / product;
    curvature = (2 * value - 3 * (1 - 2 * v) * slope) / product;
  }
  double value, slope, curvature = 0;
};

/// What of Σ fₖ sₖ belongs to Rᵢⱼ: ½ [f].
Matrix3 sine_weights(const Vector3& f) {
  Matrix3 c;
  c << 0, -f[2], f[1], f[2], 0, -f[0], -f[1], f[0], 0;
  return c / 2;
}

/// R and its derivatives at some q.
class RelativeRotation {
 public:
  RelativeRotation(const JointTurn& of, const Matrix3X& q) : of_(of) {
    for (int k = 0; k < 3; ++k) {
      e_.col(k) = of.first[std::size_t(k)].at(of.nodes, q);
      e2_.col(k) = of.second[std::size_t(k)].at(of.nodes, q);
    }
    r = e2_.transpose() * e_;
    sine = Vector3(r(2, 1) - r(1, 2), r(0, 2) - r(2, 0), r(1, 0) - r(0, 1)) / 2;
  }
  /// Of Σ cᵢⱼ Rᵢⱼ.
  VectorX gradient(const Matrix3& c) const {
    VectorX g = VectorX::Zero(Index(3 * of_.nodes.size()));
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        if (c(i, j) != 0)
          g += c(i, j) *
               product_gradient(of_.second[std::size_t(i)], e2_.col(i), of_.first[std::size_t(j)], e_.col(j));
    return g;
  }
  /// Of the same, for each pair of nodes the factor of a unit matrix.
  Eigen::MatrixXd curvature(const Matrix3& c) const {
    const Index n = Index(of_.nodes.size());
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(n, n);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        sum += c(i, j) * of_.second[std::size_t(i)].weights * of_.first[std::size_t(j)].weights.transpose();
    return sum + sum.transpose();
  }
  Matrix3 r;
  Vector3 sine;  ///< s
  TurnFactor factor() const { return TurnFactor((3 - r.trace()) / 4); }

 private:
  const JointTurn& of_;
  Matrix3 e_, e2_;
};

}  // namespace

Vector3 NodeVector::at(const std::vector<Index>& nodes, const Matrix3X& q) const {
  Vector3 sum = constant;
  for (std::size_t k = 0; k < nodes.size(); ++k) sum += weights[Index(k)] * q.col(nodes[k]);
  return sum;
}

VectorX product_gradient(const NodeVector& u, const Vector3& a, const NodeVector& v, const Vector3& b) {
  VectorX g(3 * u.weights.size());
  for (Index k = 0; k < Index(u.weights.size()); ++k)
    g.segment<3>(3 * k) = u.weights[k] * b + v.weights[k] * a;
  return g;
}

Vector3 JointTurn::value(const Matrix3X& q) const {
  const RelativeRotation at(*this, q);
  return at.factor().value * at.sine;
}

Eigen::Matrix<double, Eigen::Dynamic, 3> JointTurn::gradient(const Matrix3X& q) const {
  const RelativeRotation at(*this, q);
  const TurnFactor factor = at.factor();
  const VectorX growth = at.gradient(Matrix3::Identity()) * (-factor.slope / 4);  // ∇φ
  Eigen::Matrix<double, Eigen::Dynamic, 3> g(growth.size(), 3);
  for (int k = 0; k < 3; ++k)
    g.col(k) = factor.value * at.gradient(sine_weights(Vector3::Unit(k))) + at.sine[k] * growth;
  return g;
}

void JointTurn::add_hessian(const Matrix3X& q, const Vector3& f, Eigen::Ref<Eigen::MatrixXd> hessian) const {
  const RelativeRotation at(*this, q);
  const TurnFactor factor = at.factor();
  const Matrix3 sines = sine_weights(f), unit = Matrix3::Identity();
  const double along = f.dot(at.sine);
  const VectorX trace = at.gradient(unit), slope = at.gradient(sines);
  hessian -= factor.slope / 4 * (slope * trace.transpose() + trace * slope.transpose());
  hessian += factor.curvature / 16 * along * trace * trace.transpose();
  const Eigen::MatrixXd pairs = at.curvature(factor.value * sines - factor.slope / 4 * along * unit);
  for (Index i = 0; i < Index(pairs.rows()); ++i)
    for (Index j = 0; j < Index(pairs.cols()); ++j)
      hessian.block<3, 3>(3 * i, 3 * j).diagonal().array() += pairs(i, j);
}

Vector3 TurnLaw::force(const Vector3& w) const {
  const Vector3 s = multiplier + stiffness * w;
  const double length = s.norm();
  return length > largest ? Vector3(s * (largest / length)) : s;
}

double TurnLaw::energy(const Vector3& w) const {
  const Vector3 f = force(w);
  return f.dot(w) - (f - multiplier).squaredNorm() / (2 * stiffness);
}

Matrix3 TurnLaw::curvature(const Vector3& w) const {
  const Vector3 s = multiplier + stiffness * w;
  const double length = s.norm();
  if (!(length > largest)) return stiffness * Matrix3::Identity();
  return stiffness * (largest / length) * (Matrix3::Identity() - s * s.transpose() / (length * length));
}

double TurnLaw::error(const Vector3& w) const {
  return elastic ? 0 : (force(w) - multiplier).norm() / stiffness;
}

}  // namespace apart
