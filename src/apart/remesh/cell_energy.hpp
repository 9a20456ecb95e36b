#pragma once
#include <apart/remesh/mesh_editor.hpp>
#include <apart/simulation/remesher.hpp>

#include <optional>

namespace apart {

/// Elastic energy, inertia and weight of cells where a step ended, also of such that the mesh does not have.
class CellEnergy {
 public:
  /// Keeps references.
  CellEnergy(const SolvedStep& step, int body, const MeshEditor& editor);

  /// A point of a cell.
  struct Place {
    Vector3 rest, q;    ///< [m]
    Vector3 deviation;  ///< q − q̃ [m]
  };
  Place place(Index point) const;
  Place place(const Blend& blend) const;
  /// Times the step's scale; none: a cell that is not positive at rest or, of some materials, where it is.
  std::optional<double> operator()(const EditedCell& cell) const;
  /// With one of its points elsewhere.
  std::optional<double> operator()(const EditedCell& cell, Index moved, const Place& to) const;
  /// Of all of these, none if one of them has none.
  std::optional<double> sum(const std::vector<EditedCell>& cells) const;

 private:
  using Places = std::array<Place, 4>;
  std::optional<double> of(const Places& corners, Index substance) const;

  const MeshEditor& editor_;
  const Body& body_;
  const TimeStep& step_;
  Matrix3X q_, deviation_;
  Vector3 gravity_ = Vector3::Zero();  ///< acceleration, if there is no inertia to contain it [m/s²]
};

}  // namespace apart
