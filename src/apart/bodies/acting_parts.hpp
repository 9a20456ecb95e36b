#pragma once
// What acts on which nodes, points and facets of a body: the only place where sets are resolved to indices.
#include <apart/bodies/body.hpp>

namespace apart {

/// Nodes of a body that one of its scripts moves, and along which axes.
struct ScriptedPart {
  std::size_t script = 0;    ///< in Body::scripts
  std::vector<Index> nodes;  ///< body's own node numbers, ascending
  std::array<bool, 3> axes = {true, true, true};
};

/// Where a load acts.
struct LoadedPart {
  std::vector<Index> points;  ///< of the mesh, ascending; of an acceleration: nodes
  VectorX weights;            ///< of each point: area [m²], or one; of an acceleration: empty
  /// A place at which a traction on faces of curved cells is summed; these have no points above.
  struct Sample {
    Vector3 place;                ///< at the start [m]
    std::vector<Influence> area;  ///< N_a dA [m²] of each node a of the face
  };
  std::vector<Sample> samples;
};

/// What is exposed to the air, in points of the mesh.
struct WindwardPart {
  Faces facets;
  Edges segments;
  std::vector<Index> points;
};

/// A face of a curved cell, or a part of it, and points at which what is integrated over it is summed.
struct CurvedFace {
  std::vector<Index> nodes;  ///< those on the face; body's own numbers
  struct Point {
    double weight = 0;                   ///< of coordinates s, t on the face
    VectorX values, slopes_s, slopes_t;  ///< N_a and its derivatives by s and t, of each node
    /// x₀ and its derivatives; see LagrangeCells [m].
    Vector3 offset = Vector3::Zero(), offset_s = Vector3::Zero(), offset_t = Vector3::Zero();
  };
  std::vector<Point> points;  ///< x_s × x_t points outward
};

/// All of a body, as its mesh is now.
struct ActingParts {
  std::vector<ScriptedPart> scripted;    ///< no coordinate twice by the same script; in order
  std::vector<LoadedPart> loads;         ///< as Body::loads
  std::vector<Faces> pressures;          ///< as Body::pressures; points of the mesh
  std::vector<Edges> segment_pressures;  ///< the same of planar bodies
  /// As Body::pressures. Of a body whose surface is the boundary of curved cells, which has none of the
  /// above.
  std::vector<std::vector<CurvedFace>> curved_pressures;
  std::vector<WindwardPart> windwards;  ///< as Body::winds
};

/// Throws InvariantError for a set whose members the body does not have.
ActingParts acting_parts(const Body& body);

// Each part by itself.
std::vector<ScriptedPart> scripted_parts(const Body& body);
LoadedPart loaded_part(const Body& body, const Load& load);
/// The faces of curved cells that facets of the body's surface are on, which must be on their boundary.
std::vector<CurvedFace> curved_faces(const Body& body, FacetSet set);
/// The nodes that the points of a set depend on, ascending: the points themselves, those of them that are
/// nodes if the body has cells of higher degree, or all nodes of an affine body.
std::vector<Index> nodes_of(const Body& body, PointSet set);

}  // namespace apart
