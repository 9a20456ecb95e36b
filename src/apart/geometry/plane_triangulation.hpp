#pragma once
#include <apart/core/types.hpp>

#include <array>
#include <vector>

namespace apart {

/// Corners of a closed line in the plane, the last joined with the first.
using PlaneLoop = std::vector<Eigen::Vector2d>;

/// Whether an odd number of the loops' sides is between the point and infinity.
bool is_inside(const Eigen::Vector2d& point, const std::vector<PlaneLoop>& loops);

struct PlaneTriangulation {
  std::vector<Eigen::Vector2d> points;        ///< those of the loops first
  std::vector<std::array<int, 3>> triangles;  ///< counter-clockwise
};

/// The region within loops (the outer one first, then holes) as triangles that are Delaunay: no point lies in
/// the circle around a triangle. Every side of a loop is an edge, or several: sides that are too long for
/// that are halved. Points inside are moved to the middle of their neighbours for better shapes. The same
/// result on every machine. Throws InputError if loops cross or touch each other or themselves.
PlaneTriangulation triangulate(std::vector<PlaneLoop> loops, std::vector<Eigen::Vector2d> inner);

}  // namespace apart
