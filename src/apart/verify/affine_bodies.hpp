#pragma once
#include <apart/geometry/exact_intersection.hpp>
#include <apart/io/frame.hpp>

#include <array>
#include <vector>

namespace apart::verify {

/// The affine bodies of a run, and whether they are affine images of what they were: four of their points far
/// apart keep their orientation, and each other point stays the same combination of these.
class AffineBodies {
 public:
  AffineBodies() = default;
  explicit AffineBodies(const Frame& first, const exact::Surface& surface);

  struct Wrong {
    int body;
    std::array<Index, 4> corners;  ///< points of the frame
    double volume;                 ///< [m³] of the corners
    Index point;  ///< that is not where the corners have it; −1: corners are mirrored or flat
    double off;   ///< [m] by which it is not
  };
  /// At most one of each body that is there. `absent`: by body.
  std::vector<Wrong> wrong(const Matrix3X& points, const std::vector<char>& absent) const;
  Index count() const { return Index(images_.size()); }
  int body(Index i) const { return images_[std::size_t(i)].body; }
  /// Those of each body, for proofs that they keep their orientation on a path.
  const Tetrahedra& corners() const { return corners_; }

 private:
  struct Image {
    int body;
    std::array<Index, 4> corners;
    std::vector<Index> points;
    Matrix3X weights;  ///< of corners 1, 2 and 3, less corner 0, for each point
    double size;       ///< [m] largest distance of two corners
  };
  std::vector<Image> images_;
  Tetrahedra corners_;
};

}  // namespace apart::verify
