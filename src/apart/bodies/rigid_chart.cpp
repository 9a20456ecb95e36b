#include <apart/bodies/rigid_chart.hpp>

#include <apart/bodies/control_tetrahedron.hpp>
#include <apart/bodies/mass_distribution.hpp>
#include <apart/math/principal_axes.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace apart {

namespace {

Matrix3 cross_matrix(const Vector3& a) {
  return Matrix3{{0, -a[2], a[1]}, {a[2], 0, -a[0]}, {-a[1], a[0], 0}};
}

Matrix3 rotation_by(const Vector3& turn) {
  const double angle = turn.norm();
  return angle == 0 ? Matrix3::Identity() : Eigen::AngleAxisd(angle, turn / angle).toRotationMatrix();
}

/// The rotation of a free rigid body with this inertia [kg m²] and angular momentum [kg m²/s], in world axes,
/// during a time [s].
///
/// The energy is a sum over the principal axes, Σ Lᵢ²/2Iᵢ; for one term of it the motion is a rotation about
/// that axis of the body, with Lᵢ/Iᵢ radians per second. These rotations in sequence, forth and back, are of
/// second order, and of fourth order in Yoshida's composition; L is conserved to rounding, and the energy
/// does not drift.
Matrix3 free_turn(const Matrix3& inertia, const Vector3& momentum, double time) {
  constexpr double longest_turn = 0.02;  // [rad] of one composition: errors are of its fifth power
  const PrincipalAxes of_body = principal_axes(inertia);
  const Vector3& moments = of_body.values;
  Matrix3 principal = of_body.axes;
  if (principal.determinant() < 0) principal.col(0) *= -1;  // spins are turns only in right-handed axes
  Vector3 l = principal.transpose() * momentum;             // in the frame of the body
  Eigen::Quaterniond turn = Eigen::Quaterniond::Identity();
  const double angle = l.cwiseQuotient(moments).cwiseAbs().maxCoeff() * std::abs(time);
  const int pieces = int(std::min(std::ceil(angle / longest_turn) + 1, 1e5));
  const double third = 1 / (2 - std::cbrt(2.0));
  const auto about = [&](int axis, double length) {
    const Eigen::AngleAxisd by(length * l[axis] / moments[axis], Vector3::Unit(axis));
    l = by.inverse() * l;
    turn = turn * Eigen::Quaterniond(by);
  };
  for (int k = 0; k < pieces; ++k)
    for (const double share : {third, 1 - 2 * third, third}) {
      const double h = share * time / pieces;
      about(0, h / 2);
      about(1, h / 2);
      about(2, h);
      about(1, h / 2);
      about(0, h / 2);
    }
  return principal * turn.normalized().toRotationMatrix() * principal.transpose();
}

}  // namespace

RigidChart::RigidChart(double arm, std::array<bool, 3> free_translation, std::array<bool, 3> free_rotation)
    : arm_(arm), turn_(std::sqrt(3.0) * arm), free_(3, 2) {
  for (int k = 0; k < 3; ++k) {
    free_(k, 0) = free_translation[std::size_t(k)];
    free_(k, 1) = free_rotation[std::size_t(k)];
  }
}

Matrix3 RigidChart::rotation(const BodyColumns& q) const {
  const Vector3 centre = q.rowwise().mean();
  const Matrix3 raw = (q.colwise() - centre) * ControlTetrahedron::directions().transpose() / (4 * arm_);
  // One step of Newton's method to the nearest rotation: rounding does not add up over many iterates.
  return 0.5 * raw * (3 * Matrix3::Identity() - raw.transpose() * raw);
}

BodyColumns RigidChart::retract(const BodyColumns& q, const BodyColumns& y) const {
  const Vector3 centre = q.rowwise().mean() + y.col(0);
  const Matrix3 turned = rotation_by(y.col(1) / turn_) * rotation(q);
  return (arm_ * turned * ControlTetrahedron::directions()).colwise() + centre;
}

Matrix3 RigidChart::slope(const BodyColumns& q, Index node, Index unknown) const {
  if (unknown == 0) return Matrix3::Identity();
  return cross_matrix(q.rowwise().mean() - q.col(node)) / turn_;
}

BodyColumns RigidChart::push_forward(const BodyColumns& q, const BodyColumns& y) const {
  const Vector3 centre = q.rowwise().mean(), turn = y.col(1) / turn_;
  BodyColumns result(3, 4);
  for (Index k = 0; k < 4; ++k) result.col(k) = y.col(0) + turn.cross(q.col(k) - centre);
  return result;
}

BodyColumns RigidChart::pull_back(const BodyColumns& q, const BodyColumns& g) const {
  const Vector3 centre = q.rowwise().mean();
  Vector3 force = Vector3::Zero(), torque = Vector3::Zero();
  for (Index k = 0; k < 4; ++k) {
    const Vector3 on_node = g.col(k);
    force += on_node;
    torque += (q.col(k) - centre).cross(on_node);
  }
  BodyColumns result(3, 2);
  result << force, torque / turn_;
  return result;
}

Eigen::MatrixXd RigidChart::curvature(const BodyColumns& q, const BodyColumns& g) const {
  const Vector3 centre = q.rowwise().mean();
  Matrix3 sum = Matrix3::Zero();
  for (Index k = 0; k < 4; ++k) {
    const Vector3 r = q.col(k) - centre, f = g.col(k);
    sum += 0.5 * (f * r.transpose() + r * f.transpose()) - f.dot(r) * Matrix3::Identity();
  }
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(6, 6);
  result.bottomRightCorner<3, 3>() = sum / (turn_ * turn_);
  return result;
}

BodyColumns RigidChart::bend(const BodyColumns& q, const BodyColumns& y) const {
  const Vector3 turn = y.col(1) / turn_;
  const Matrix3 twice = turn * turn.transpose() - turn.squaredNorm() * Matrix3::Identity();
  return twice * (q.colwise() - Vector3(q.rowwise().mean()));
}

BodyColumns RigidChart::free_motion(const BodyColumns& q, const BodyColumns& rates,
                                    const Eigen::SparseMatrix<double>& mass, double time) const {
  if (!free_.col(1).all()) return retract(q, time * rates);  // about an axis that is held the spin stays
  const Vector3 centre = q.rowwise().mean();
  const Matrix3X r = q.colwise() - centre;
  const Matrix3 inertia = inertia_of(r * mass * r.transpose());
  const Vector3 spin = rates.col(1) / turn_;
  const Matrix3 turned = free_turn(inertia, inertia * spin, time) * rotation(q);
  return (arm_ * turned * ControlTetrahedron::directions()).colwise() + Vector3(centre + time * rates.col(0));
}

}  // namespace apart
