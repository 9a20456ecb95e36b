#pragma once
#include <apart/remesh/planar_editor.hpp>
#include <apart/simulation/remesher.hpp>

namespace apart {

/// Cells of a planar body around an operation, as they are before or after it; PatchMesh in the plane. Points
/// have the editor's numbers.
struct PlanarPatch {
  std::vector<Index> points;     ///< of the cells, ascending
  std::vector<char> moves;       ///< of each point: it may move in a trial
  Faces cells;                   ///< places in `points`
  std::vector<Index> substance;  ///< of each cell
  Edges segments;                ///< of the boundary, inside on the left; places in `points`
  BodySets sets;                 ///< those of the body, with members of this mesh
  std::optional<std::array<Index, 2>> midpoint_of;  ///< of the last point, if it was created by a split
};

/// The cells that contain one of the points `around`, which may move.
PlanarPatch planar_patch(const PlanarEditor& editor, const std::vector<Index>& around);

/// The points of the cells around an edge.
std::vector<Index> points_around(const PlanarEditor& editor, Index a, Index b);

/// Compares the smallest values of the step's potential before and after an operation, with all points held
/// but those of a patch; PatchTrial in the plane.
class PlanarTrial {
 public:
  /// `pinned`: points of the body that something acts on which no patch knows: they are held. Keeps
  /// references.
  PlanarTrial(const SolvedStep& step, int body, const std::vector<char>& pinned);
  /// The decrease [J] of the smallest value; may be negative. Any thread.
  double gain(const PlanarPatch& before, const PlanarPatch& after) const;

 private:
  struct Nearby;
  struct Part;
  Nearby nearby(const PlanarPatch& before) const;
  Part part(const PlanarPatch& patch, const Nearby& near) const;
  double least_energy(Part part) const;

  const SolvedStep step_;
  const int body_;
  const std::vector<char>& pinned_;
  Matrix3X x_, x_before_, v_before_;  ///< of collision vertices, where the step ended and began [m, m/s]
};

}  // namespace apart
