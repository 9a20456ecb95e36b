#pragma once
#include <apart/bodies/body.hpp>

namespace apart {

/// What came of giving a body another surface to collide with.
struct CollisionSkin {
  Body body;
  Index outside = 0;       ///< points of the surface that lie outside of the body and follow it all the same
  double growth = 1;       ///< largest Σ|w| of a point: 1 inside a linear cell
  Index growth_point = 0;  ///< where
};

/// A volume, affine or rigid body that collides with the triangles of `surface` instead of its own boundary.
/// Throws InputError that begins with `where`, for surfaces that are too far from the body to follow it.
///
/// In a volume each point moves with the cell that it lies in, x = W q + x₀, or, outside of all, with one
/// near it, as if that cell went on. Points of the body are those of its cells, then those of the surface. An
/// affine or rigid body keeps its mass and its nodes, and has no other points than those of the surface.
CollisionSkin with_collision_skin(Body body, const Mesh& surface, const std::string& where);

/// The same of a volume, with given weights: of each point of the surface, in the body's own node numbers.
/// They must reproduce the surface, but for what the nodes leave of the shape of the cells.
CollisionSkin with_collision_weights(Body body, const Mesh& surface,
                                     const std::vector<std::vector<Influence>>& weights,
                                     const std::string& where);

/// Corners, edges and faces of a mesh in the order in which a file of weights counts the nodes there, from
/// the first end of an edge to the second.
struct NodeOrder {
  std::vector<Index> corners;  ///< empty: all points of the mesh
  std::vector<std::array<Index, 2>> edges;
  std::vector<std::array<Index, 3>> faces;
};
/// Nodes of a volume in the order of the columns of weights: that of the points of the mesh it was made of,
/// if these are its nodes, else the given one. Throws InputError that begins with `where` if the mesh has no
/// such edges or faces.
std::vector<Index> nodes_in_order(const Body& body, const Mesh& mesh, const NodeOrder& order,
                                  const std::string& where);

}  // namespace apart
