#pragma once
#include <apart/core/types.hpp>

#include <filesystem>
#include <vector>

namespace apart {

/// The faces of an OBJ file as they are there: polygons with texture coordinates and normals at their
/// corners, which a Mesh does not keep.
struct ObjPolygons {
  Matrix3X points;           ///< [m], all of the file
  std::vector<int> sizes;    ///< number of corners of each polygon
  std::vector<int> corners;  ///< points of the polygons, one polygon after the other
  std::vector<int> texture;  ///< of each corner, a column of `texture_points`; −1: none
  std::vector<int> normals;  ///< of each corner, the number of its normal; −1: none
  Eigen::Matrix2Xd texture_points;
};

/// Throws InputError as read_obj does.
ObjPolygons read_obj_polygons(const std::filesystem::path& file);

}  // namespace apart
