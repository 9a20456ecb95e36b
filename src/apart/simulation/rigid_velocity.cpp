#include <apart/simulation/rigid_velocity.hpp>

#include <apart/bodies/mass_distribution.hpp>
#include <apart/math/principal_axes.hpp>

#include <Eigen/Geometry>

namespace apart {

RigidVelocity::RigidVelocity(const Eigen::SparseMatrix<double>& mass, const Matrix3X& q, const Matrix3X& v) {
  // Not mass.sum(): its order, and with it the bits, would follow from where the memory of the matrix begins.
  const double total = VectorX(mass * VectorX::Ones(mass.cols())).sum();
  if (!(total > 0)) return;
  const Matrix3X of_nodes = v * mass;  // momentum
  centre_ = (q * mass).rowwise().sum() / total;
  linear_ = of_nodes.rowwise().sum() / total;
  const Matrix3X r = q.colwise() - centre_;
  Vector3 momentum = Vector3::Zero();
  for (Index k = 0; k < Index(q.cols()); ++k) momentum += Vector3(r.col(k)).cross(Vector3(of_nodes.col(k)));
  const PrincipalAxes axes = principal_axes(inertia_of(r * mass * r.transpose()));
  // About an axis without inertia, that of a straight row of nodes, nothing turns.
  constexpr double negligible = 1e-9;
  for (int k = 0; k < 3; ++k)
    if (axes.values[k] > negligible * axes.values.maxCoeff())
      angular_ += axes.axes.col(k) * (axes.axes.col(k).dot(momentum) / axes.values[k]);
}

Matrix3X RigidVelocity::velocities(const Matrix3X& q) const {
  Matrix3X v(3, q.cols());
  for (Index k = 0; k < Index(q.cols()); ++k)
    v.col(k) = linear_ + angular_.cross(Vector3(q.col(k) - centre_));
  return v;
}

Matrix3X RigidVelocity::displacements(const Matrix3X& q, double time) const {
  const double rate = angular_.norm();
  Matrix3 turn = Matrix3::Identity();
  if (rate > 0) turn = Eigen::AngleAxisd(time * rate, angular_ / rate).toRotationMatrix();
  Matrix3X moved = (turn - Matrix3::Identity()) * (q.colwise() - centre_);
  moved.colwise() += time * linear_;
  return moved;
}

}  // namespace apart
