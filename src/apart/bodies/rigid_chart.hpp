#pragma once
#include <apart/bodies/chart.hpp>

namespace apart {

/// Keeps the corners of a control tetrahedron on its rigid motions, q_k = p + s Q e_k. The unknowns are a
/// displacement δ [m] and a rotation ω [rad] from the present pose, as a vector in world axes:
///
///   q_k(y) = p + δ + exp([ω]) r_k,    r_k = q_k − p,    y = (δ, ℓ ω)
///
/// The rotation is multiplied by ℓ, the distance of the corners from the centre: then both unknowns are
/// lengths, their gradients are forces, and tolerances mean the same for both. Because y = 0 is the present
/// pose, rotations are never far from zero, and there is no singularity.
class RigidChart final : public BodyChart {
 public:
  /// `arm`: s [m]. `free`: which components of δ and ω may change.
  RigidChart(double arm, std::array<bool, 3> free_translation, std::array<bool, 3> free_rotation);

  Index node_count() const override { return 4; }
  Index unknown_count() const override { return 2; }
  BodyColumns retract(const BodyColumns& q, const BodyColumns& y) const override;
  Matrix3 slope(const BodyColumns& q, Index node, Index unknown) const override;
  BodyColumns push_forward(const BodyColumns& q, const BodyColumns& y) const override;
  BodyColumns pull_back(const BodyColumns& q, const BodyColumns& g) const override;
  Eigen::MatrixXd curvature(const BodyColumns& q, const BodyColumns& g) const override;
  /// ω × (ω × r), which turns with the body: ‖ω‖² times the distance from the axis.
  BodyColumns bend(const BodyColumns& q, const BodyColumns& y) const override;
  double turn(const BodyColumns& y) const override { return y.col(1).norm() / turn_; }
  /// The centre moves uniformly and the body rotates like a free top: its angular momentum is constant, its
  /// spin need not be.
  BodyColumns free_motion(const BodyColumns& q, const BodyColumns& rates,
                          const Eigen::SparseMatrix<double>& mass, double time) const override;
  Mask free() const override { return free_; }

  /// Q of nodes on a rigid motion.
  Matrix3 rotation(const BodyColumns& q) const;

 private:
  double arm_;   ///< s [m]
  double turn_;  ///< ℓ [m]
  Mask free_;
};

}  // namespace apart
