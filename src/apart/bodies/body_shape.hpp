#pragma once
#include <apart/bodies/body.hpp>

namespace apart {

/// The part of a body that a change of its mesh replaces. Everything else follows from this and from its
/// material, or refers to the sets.
struct BodyShape {
  Mesh mesh;             ///< as Body::mesh, in the initial placement; groups and cell data are of no use here
  Matrix3X rest_points;  ///< as Body::rest_points
  BodySets sets;         ///< names and order are the body's own; members are of this mesh
};

BodyShape shape_of(const Body& body);

/// The same body of another mesh, that is of other points and cells of the same shape: nodes, elements, mass
/// and surface are made again, scripts and loads stay. It begins at rest: what moves is in the state. Throws
/// InputError if the mesh is not suitable for this kind of body, has points outside the body's bounding box,
/// or has other sets; and for a body that keeps its mesh.
Body with_shape(const Body& body, BodyShape shape);

/// Gives a body what another one with the same sets has besides its shape: scripts and loads, damping, when
/// it is present, and how contact weighs it.
void take_over_settings(const Body& from, Body& to);

}  // namespace apart
