#pragma once
#include <apart/geometry/aabb.hpp>
#include <apart/geometry/weld.hpp>
#include <apart/io/located_json.hpp>

namespace apart {

/// Joins points of a mesh file as its key "weld" says; returns how many were left out.
inline Index weld_as_told(const LocatedJson& source, Mesh& mesh) {
  const double share = source["weld"].number();
  return share > 0 && mesh.point_count() > 0 ? weld_points(mesh, share * bounding_box(mesh.points).diagonal())
                                             : 0;
}

}  // namespace apart
