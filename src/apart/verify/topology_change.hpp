#pragma once
// What is proven where a mesh changes. An edge is collapsed by moving one of its ends onto the other on the
// old mesh, and split by a new point that leaves one of its ends on the new mesh. In between both meshes have
// the same surface: not one coordinate differs. So paths are proven on either side, and nothing can be passed
// through at the change itself.
#include <apart/geometry/exact_intersection.hpp>
#include <apart/io/frame.hpp>

#include <compare>
#include <vector>

namespace apart::verify {

/// A surface as a part of space: the corners of its triangles, segments and free points, whatever their
/// numbers. Triangles and segments with two corners in one place cover nothing, and are left out.
class PlacedSurface {
 public:
  PlacedSurface(const Frame& frame, const exact::Surface& surface, const Matrix3X& points);
  bool operator==(const PlacedSurface&) const = default;

 private:
  struct Part {
    int body;
    std::array<std::array<double, 3>, 3> corners;  ///< in order; those of smaller parts are repeated
    auto operator<=>(const Part&) const = default;
  };
  std::vector<Part> parts_;  ///< in order
};

/// Points that are in the same place as a neighbour in a tetrahedron or a triangle, as edges that begin or
/// end as one point have them.
class MergedPoints {
 public:
  /// `places`: positions of all points; a pair counts if it is merged in one of them.
  MergedPoints(const Frame& frame, std::initializer_list<const Matrix3X*> places);
  bool any() const { return any_; }
  /// Whether a point is merged with another.
  bool contain(Index point) const { return any_ && is_merged_[std::size_t(point)]; }
  /// Whether a point of a is merged with a point of b.
  bool join(const exact::Primitive& a, const exact::Primitive& b) const;
  /// Whether two corners of a tetrahedron are merged.
  bool flatten(const Eigen::Ref<const Eigen::Vector4i>& cell) const;

 private:
  bool any_ = false;
  std::vector<Index> name_;  ///< of each point: the smallest it is merged with
  std::vector<char> is_merged_;
};

}  // namespace apart::verify
