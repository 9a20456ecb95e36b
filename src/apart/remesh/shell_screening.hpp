#pragma once
#include <apart/remesh/screening.hpp>
#include <apart/remesh/screening_parts.hpp>

namespace apart {

/// The estimates of screening.hpp for a shell. What bends at an edge depends on the triangles on either side,
/// so energies are those of small parts of the shell, made as the whole one is.
class ShellScreening {
 public:
  /// Keeps references. The step's problem is prepared where it ended.
  ShellScreening(const SolvedStep& step, int body, const MeshEditor& editor);

  std::vector<SplitEstimate> splits() const;
  std::vector<CollapseEstimate> collapses(Index first, bool onto_all) const;

 private:
  struct Part;
  Part part(const std::vector<EditedCell>& cells, const Blend& created) const;
  double midpoint_gain(const std::array<Index, 2>& edge, const MidpointForces& outer,
                       const Eigen::Array<bool, 3, 1>& held) const;

  const SolvedStep step_;
  const MeshEditor& editor_;
  const Body& body_;
  Index first_;                            ///< node
  Matrix3X q_, deviation_;                 ///< of the nodes, and q − q̃ [m]
  Vector3 gravity_ = Vector3::Zero();      ///< acceleration, if there is no inertia to contain it [m/s²]
  std::optional<double> limit_stiffness_;  ///< [Pa]
};

}  // namespace apart
