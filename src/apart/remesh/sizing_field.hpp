#pragma once
#include <apart/remesh/mesh_editor.hpp>
#include <apart/simulation/remesher.hpp>

namespace apart {

/// How long edges are for a size that follows deformation and contact, where a step ended [thesis 6.4]: with
/// s² = eᵀ M e edges of s ≥ 1 are to be split. M is the mean of FᵀF/ℓ² over the cells of an edge, which makes
/// eᵀ M e its squared length there over ℓ²; where it is in contact the mean of that and n nᵀ/d², of the
/// normal and the distance there, if d² is less than a tenth of what it was at rest.
class SizingField {
 public:
  /// ℓ [m]: `longest_edge` of the mesh of the scene. Keeps a reference to the editor.
  SizingField(const SolvedStep& step, int body, const MeshEditor& editor, double longest_edge);

  /// s of the edge of two points of the mesh where the step ended.
  double size(Index a, Index b) const;
  /// The largest s of the edges that the collapse of a point onto another would leave there.
  double size_after_collapse(Index removed, Index kept) const;

 private:
  const MeshEditor& editor_;
  double longest_edge_;
  Matrix3X q_;        ///< [m]
  Matrix3X nearest_;  ///< n/d of the nearest contact of each point [1/m]; 0: none
};

}  // namespace apart
