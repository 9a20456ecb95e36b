#pragma once
#include <apart/geometry/exact_intersection.hpp>
#include <apart/io/frame.hpp>

#include <vector>

namespace apart::verify {

/// Connected pieces of the surface. By point: the first point it is connected with by edges.
std::vector<Index> connected_pieces(Index point_count, const exact::Surface& surface);

/// The connected solids of a run, which nothing may lie in: of tetrahedra, or, of an affine or rigid body
/// without any and of curved cells, all that its triangles enclose.
class Solids {
 public:
  Solids() = default;
  /// `is_obstacle`: by body; those have no solids.
  Solids(const Frame& first, const exact::Surface& surface, const std::vector<char>& is_obstacle);

  struct Inside {
    Index point;  ///< of the frame
    int body;     ///< the solid's
  };
  /// Of `queries`, those that lie inside a solid of which they see the contact. `absent`: by body.
  std::vector<Inside> inside(const Matrix3X& points, const std::vector<Index>& queries,
                             const std::vector<char>& absent, exact::PairFilter tested) const;
  Index count() const { return count_; }

 private:
  Eigen::VectorXi point_body_;
  std::vector<int> solid_;  ///< per point: the solid whose surface it is part of; −1: none
  std::vector<exact::Primitive> faces_;
  int count_ = 0;
};

}  // namespace apart::verify
