#pragma once
// What operations would change the step's potential, estimated from the solved step for all of them at once,
// so that hardly any trial is wasted. Energies are in joules.
#include <apart/remesh/mesh_editor.hpp>
#include <apart/simulation/remesher.hpp>

#include <set>

namespace apart {

struct SplitEstimate {
  std::array<Index, 2> edge;
  double gain = 0;  ///< [J]
};
/// Of every edge, in order; the step's problem is prepared where it ended. At equilibrium the force on a
/// would-be midpoint is the jump of stress at the edge, of inertia and of what acts on the surface; with the
/// stiffness H of the midpoint the gain is ½ gᵀH⁻¹g: what moving the midpoint alone would give.
std::vector<SplitEstimate> estimate_splits(const SolvedStep& step, int body, const MeshEditor& editor);

struct CollapseEstimate {
  Index removed = 0, kept = 0;
  double loss = 0;  ///< [J]
};
/// Of every point from `first` on, in order, onto the ends of the edge whose split created it, or onto each
/// of its neighbours if these are none any more: by how much the potential of the step would grow if
/// everything else stayed where it is, as far as that follows from elastic energy and inertia. A patch loses
/// less. Not those that would leave a cell inverted. `onto_all`: of a shell onto each neighbour, and only the
/// best for each point: a midpoint that ends in the corner opposite to its edge leaves the other diagonal of
/// two triangles.
std::vector<CollapseEstimate> estimate_collapses(const SolvedStep& step, int body, const MeshEditor& editor,
                                                 Index first, bool onto_all = false);

struct SwapEstimate {
  Corners gone;
  double gain = 0;  ///< [J]
};
/// Of every edge of triangles and every facet and edge of tetrahedra that can be swapped, in order: by how
/// much the energy of its cells would fall if everything stayed where it is. A patch gains more.
std::vector<SwapEstimate> estimate_swaps(const SolvedStep& step, int body, const MeshEditor& editor);

struct MoveEstimate {
  Blend to;
  double gain = 0;  ///< [J]
};
/// Of every one of these points that can move, in order: its best place among some on the edges around it,
/// and by how much the energy of its cells would fall. Only if it would.
std::vector<MoveEstimate> estimate_moves(const SolvedStep& step, int body, const MeshEditor& editor,
                                         const std::set<Index>& points);

}  // namespace apart
