#include <apart/simulation/rigid_velocity.hpp>

#include <gtest/gtest.h>

#include <Eigen/Geometry>

namespace apart::test {
namespace {

Eigen::SparseMatrix<double> masses(const VectorX& of_nodes) {
  Eigen::SparseMatrix<double> m(of_nodes.size(), of_nodes.size());
  for (Index k = 0; k < Index(of_nodes.size()); ++k) m.insert(k, k) = of_nodes[k];
  return m;
}

TEST(RigidVelocity, OfARigidMotionIsThatMotion) {
  const Matrix3X q = Matrix3X::Random(3, 7);
  const VectorX m = VectorX::Random(7).array().abs() + 0.1;
  const Vector3 at(0.3, -2, 1), linear(1, -2, 0.5), angular(0.7, 0.2, -1.1);
  Matrix3X v(3, 7);
  for (Index k = 0; k < 7; ++k) v.col(k) = linear + angular.cross(Vector3(q.col(k) - at));
  const RigidVelocity rigid(masses(m), q, v);
  EXPECT_LT((rigid.velocities(q) - v).norm(), 1e-12);

  // In 0.4 s the centre of mass moves straight, and the rest turns about it.
  const double time = 0.4;
  const Vector3 centre = q * m / m.sum();
  const Vector3 of_centre = linear + angular.cross(centre - at);
  const Matrix3 turn = Eigen::AngleAxisd(time * angular.norm(), angular.normalized()).toRotationMatrix();
  const Matrix3X moved = q + rigid.displacements(q, time);
  for (Index k = 0; k < 7; ++k)
    EXPECT_LT((moved.col(k) - centre - time * of_centre - turn * (q.col(k) - centre)).norm(), 1e-12);
}

TEST(RigidVelocity, HasTheMomentaOfAnyMotion) {
  const Matrix3X q = Matrix3X::Random(3, 6), v = Matrix3X::Random(3, 6);
  const VectorX m = VectorX::Random(6).array().abs() + 0.1;
  const Matrix3X left = v - RigidVelocity(masses(m), q, v).velocities(q);
  Vector3 momentum = Vector3::Zero(), spin = Vector3::Zero();
  for (Index k = 0; k < 6; ++k) {
    momentum += m[k] * left.col(k);
    spin += m[k] * Vector3(q.col(k)).cross(Vector3(left.col(k)));
  }
  EXPECT_LT(momentum.norm(), 1e-12);
  EXPECT_LT(spin.norm(), 1e-12);
}

TEST(RigidVelocity, OfOneNodeOrARowOfNodesIsFinite) {
  const Matrix3X one = Vector3(1, 2, 3), v = Vector3(-1, 0, 2);
  EXPECT_LT((RigidVelocity(masses(VectorX::Ones(1)), one, v).displacements(one, 2) - 2 * v).norm(), 1e-12);
  Matrix3X row(3, 3), swing(3, 3);
  row << 0, 1, 2, 0, 0, 0, 0, 0, 0;
  swing << 0, 0, 0, 0, 1, 2, 0, 0, 0;
  const RigidVelocity rigid(masses(VectorX::Ones(3)), row, swing);
  EXPECT_LT((rigid.velocities(row) - swing).norm(), 1e-12);
  const RigidVelocity massless(masses(VectorX::Zero(3)), row, swing);
  EXPECT_EQ(massless.displacements(row, 1).norm(), 0);
}

}  // namespace
}  // namespace apart::test
