#pragma once
#include <apart/bodies/body.hpp>
#include <apart/geometry/aabb.hpp>

#include <array>
#include <limits>
#include <vector>

namespace apart {

/// A point of a body's surface, as a mean of at most three of its mesh points.
struct Foot {
  std::array<Index, 3> points = {-1, -1, -1};
  Vector3 weights = Vector3::Zero();
  double distance = std::numeric_limits<double>::infinity();  ///< [m]
};

/// The primitives of a body's surface, in a tree of boxes. Keeps a reference to the body's mesh.
class SurfaceTree {
 public:
  /// `on_vertices`: of its points alone.
  SurfaceTree(const Body& body, bool on_vertices);

  /// Of several that are equally near, the first of the surface.
  Foot nearest(const Vector3& x) const;

 private:
  struct Primitive {
    std::array<int, 3> corners = {-1, -1, -1};
    int size = 0, number = 0;
  };
  struct Node {
    Aabb box;
    std::size_t begin = 0, end = 0;
    std::size_t right = 0;  ///< the left child follows its parent; 0: a leaf
  };
  std::size_t build(std::size_t begin, std::size_t end);
  double distance(std::size_t node, const Vector3& x) const;
  void search(std::size_t at, const Vector3& x, Foot& best, int& number) const;

  const Matrix3X& points_;
  std::vector<Primitive> primitives_;
  std::vector<Node> nodes_;
};

}  // namespace apart
