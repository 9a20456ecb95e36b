#pragma once
// The surface of one frame as a file: polygons, texture coordinates, normals and names of bodies.
#include <apart/viewer/body_polygons.hpp>

#include <filesystem>
#include <map>

namespace apart {

/// Polygons of bodies, by their index in the frame; of others the triangles are written.
using PolygonsOfBodies = std::map<int, BodyPolygons>;

/// Wavefront OBJ: an object for each body that is there, with its own points.
void write_surface_obj(const std::filesystem::path& file, const Frame& frame,
                       const PolygonsOfBodies& polygons);

/// PLY, binary. It has no names: each face has the number of its body, and comments say which that is;
/// texture coordinates are lists of the faces. Normals are left out, since points have one only.
void write_surface_ply(const std::filesystem::path& file, const Frame& frame,
                       const PolygonsOfBodies& polygons);

}  // namespace apart
