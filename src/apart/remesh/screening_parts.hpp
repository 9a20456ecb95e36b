#pragma once
// What estimates for all kinds of bodies have in common.
#include <apart/remesh/mesh_editor.hpp>
#include <apart/simulation/remesher.hpp>

#include <optional>

namespace apart {

/// Derivatives of the energy of contact by the nodes of a body, by how it would act on the midpoint of an
/// edge.
struct ContactForces {
  /// The problem of the step is prepared where it ended.
  ContactForces(const SolvedStep& step, int b, Index node_count);
  /// What acts at a place between points.
  struct Load {
    std::vector<std::pair<Index, double>> shares;  ///< nodes, each with its barycentric coordinate
    Vector3 derivative;                            ///< [kg m]
  };
  std::vector<Load> loads;
  /// What presses on points themselves [kg m]: it would press on the midpoint of two of them as well.
  Matrix3X at_points;
};

/// What acts on a would-be midpoint.
struct MidpointForces {
  Vector3 force = Vector3::Zero();      ///< derivative of the potential [kg m]
  Vector3 pressing = Vector3::Zero();   ///< the part of contact that presses on points, not in `force`
  Matrix3 stiffness = Matrix3::Zero();  ///< second derivatives [kg]
};
/// ½ gᵀH⁻¹g in the axes that are free; of two dimensions the first two.
double quadratic_gain(const MidpointForces& m, Eigen::Array<bool, 3, 1> held, int dimension);

/// The neighbours of a point that it is the midpoint of, to the last bit: the ends of the edge whose split
/// created it. Collapses onto these lead back to the mesh before the split.
std::optional<std::array<Index, 2>> ends_of_split(const MeshEditor& editor, Index point,
                                                  const std::vector<Index>& neighbours);

}  // namespace apart
