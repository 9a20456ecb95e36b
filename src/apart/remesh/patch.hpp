#pragma once
#include <apart/remesh/mesh_editor.hpp>
#include <apart/remesh/placed_surface.hpp>
#include <apart/simulation/remesher.hpp>

namespace apart {

/// Cells of a body around an operation, as they are before or after it. Points have the editor's numbers.
struct PatchMesh {
  std::vector<Index> points;     ///< of the cells, ascending
  std::vector<char> moves;       ///< of each point: it may move in a trial
  std::vector<Index> cells;      ///< the editor's numbers, ascending
  Mesh mesh;                     ///< in its initial placement; its points are places in `points`
  Matrix3X rest_points;          ///< as BodyShape::rest_points
  std::vector<Index> substance;  ///< of each cell
  std::vector<Corners> sides;    ///< of the surface that are sides of the cells, outward; places in `points`
  BodySets sets;                 ///< those of the body, with members of this mesh: places, numbers of `sides`
  std::map<Index, Blend>
      blends;  ///< of places: where points were in the mesh before that were not points of it
  std::map<Index, Index> merged;  ///< points of the mesh before that were moved onto others, and those
  bool is_finer = false;          ///< it can represent all that the mesh before could
};

/// The cells that contain one of the points `around`, which may move. Of a shell also those that share an
/// edge with one of these: the angles there depend on what moves.
PatchMesh patch_mesh(const MeshEditor& editor, const std::vector<Index>& around);

/// Ascending.
std::vector<Index> points_of(const MeshEditor& editor, const std::vector<Index>& cells);

/// Compares the smallest values of the step's potential before and after an operation, with all points held
/// but those of a patch. [thesis 6.3: local relaxation]
///
/// A patch is a small Model: its cells as a body with the sets and loads of the whole one, and around it the
/// part of all surfaces that is near, which does not move. So what is minimised are the terms of the step,
/// whatever they are, with the κ and the lag of friction of where the step ended. What a trial costs depends
/// on the patch and what is near it, not on the bodies as a whole.
class PatchTrial {
 public:
  /// `pinned`: points of the body that something acts on which no patch knows: they are held. `keeps_mass`:
  /// where an operation changes the volume of a patch, not its mass. Keeps references.
  PatchTrial(const SolvedStep& step, const PlacedSurface& placed, int body, const std::vector<char>& pinned,
             bool keeps_mass = false)
      : step_(step), placed_(placed), body_(body), pinned_(pinned), keeps_mass_(keeps_mass) {}

  struct Outcome {
    double gain = 0;  ///< [J] decrease of the smallest value; may be negative
    Matrix3X nodes;   ///< where the points of the new patch are at its minimum [m]
  };
  /// Any thread.
  Outcome compare(const PatchMesh& before, const PatchMesh& after) const;

 private:
  struct Nearby;
  struct Part;
  Nearby nearby(const PatchMesh& before) const;
  Part part(const PatchMesh& mesh, const Nearby& near, std::optional<double> mass = {}) const;
  double minimise(Part& part) const;

  const SolvedStep step_;
  const PlacedSurface& placed_;
  const int body_;
  const std::vector<char>& pinned_;
  const bool keeps_mass_;
};

}  // namespace apart
