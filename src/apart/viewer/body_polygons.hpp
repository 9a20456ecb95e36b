#pragma once
// The faces of a body as its mesh file has them, for exports: a run knows triangles only.
#include <apart/io/frame.hpp>
#include <apart/io/obj_polygons.hpp>

#include <optional>
#include <vector>

namespace apart {

/// Polygons on a list of points, one after the other.
struct BodyPolygons {
  std::vector<int> sizes;    ///< number of corners of each
  std::vector<int> corners;  ///< points
  Eigen::Matrix2Xd texture;  ///< u, v of each corner; empty: none
  /// Of each corner, the number of its normal: corners at one point have the same one where the file gives
  /// them the same one, so that hard edges stay hard. Empty: the file has no normals.
  std::vector<int> normals;
  int normal_count = 0;
};

/// The polygons of the triangles of a body, on the points of the frame, turned as the triangles are.
/// `source`: the file that its mesh is made of, with points [m] where they are in this frame but for
/// `tolerance`. None if the triangles are not those of the file: it was filled, refined or changed.
std::optional<BodyPolygons> matched_polygons(const Frame& first, int body, const ObjPolygons& source,
                                             double tolerance);

/// Triangles as polygons.
BodyPolygons polygons_of(const Faces& triangles);

/// The unit normals that the corners refer to: means over the polygons of their corners, weighted by area.
Matrix3X corner_normals(const BodyPolygons& polygons, const Matrix3X& points);

}  // namespace apart
