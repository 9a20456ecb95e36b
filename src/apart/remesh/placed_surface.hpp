#pragma once
#include <apart/potentials/grip.hpp>
#include <apart/remesh/box_index.hpp>
#include <apart/simulation/remesher.hpp>

namespace apart {

/// The collision surface where a solved step ended, searchable by place: what a change of the mesh has to do
/// with contact is found near it, without a look at all there is. Keeps a reference to the step's problem.
class PlacedSurface {
 public:
  explicit PlacedSurface(const SolvedStep& step);

  /// Primitives by what they are, ascending.
  struct Primitives {
    std::vector<Index> faces;       ///< of CollisionSurface::faces
    std::vector<Index> free_edges;  ///< of CollisionSurface::edges, those on no face
    std::vector<Index> points;      ///< vertices on no edge
  };
  /// Those of bodies that are present whose boxes meet this one.
  Primitives meeting(const Aabb& box) const;

  /// What contacts with a vertex that `to` knows remember, in its numbers.
  VectorX grips(const VertexRenumbering& to) const;

  const CollisionSurface& surface;    ///< without contact of absent bodies
  const Matrix3X x;                   ///< vertices at the end of the step [m]
  const Matrix3X x_before, v_before;  ///< and at its beginning [m, m/s]

 private:
  std::vector<Aabb> boxes() const;
  BoxIndex index_;                                          ///< of faces, then of free edges, then of points
  const VectorX grips_;                                     ///< packed
  std::unordered_map<Index, std::vector<Index>> grips_of_;  ///< of vertices: where theirs begin
};

}  // namespace apart
