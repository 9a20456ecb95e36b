#pragma once
#include <apart/io/frame.hpp>

#include <array>
#include <vector>

namespace apart::verify {

/// The rigid bodies of a run, and whether they have kept their shape: the distances of all their points to
/// four of them that are far apart, and on which side of three the fourth is. A point is determined by these.
class RigidBodies {
 public:
  RigidBodies() = default;
  explicit RigidBodies(const Frame& first);

  struct Deformed {
    int body;
    Index point;    ///< of the frame
    double off;     ///< [m] by which its distance to another point of the body has changed
    bool mirrored;  ///< the body as a whole, instead
  };
  /// At most one of each body that is there; rounding of coordinates is no deformation. `absent`: by body.
  std::vector<Deformed> deformed(const Matrix3X& points, const std::vector<char>& absent) const;
  Index count() const { return Index(shapes_.size()); }

 private:
  struct Shape {
    int body;
    std::array<Index, 4> corners;
    std::vector<Index> points;
    Eigen::Matrix<double, 4, Eigen::Dynamic> distances;  ///< [m] of each point to the corners
    double size;                                         ///< [m] largest of them
    double volume6;                                      ///< of the corners [m³]; 0: they lie in a plane
  };
  std::vector<Shape> shapes_;
};

}  // namespace apart::verify
