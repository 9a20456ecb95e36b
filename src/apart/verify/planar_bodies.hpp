#pragma once
#include <apart/io/frame.hpp>
#include <apart/verify/path_proof.hpp>

#include <vector>

namespace apart::verify {

/// The triangles of planar bodies: cells in a plane z = const that must not invert, and that nothing may lie
/// in.
class PlanarBodies {
 public:
  PlanarBodies() = default;
  explicit PlanarBodies(const Frame& first);
  bool exist() const { return cells_.cols() > 0; }
  Index guarded_count() const { return Index(guarded_.size()); }  ///< cells that must not invert
  Index invertible_count() const { return Index(cells_.cols()) - guarded_count(); }
  /// Corners of a cell, points of the frame.
  Eigen::Vector3i cell(Index c) const { return cells_.col(c); }

  /// Points that are not exactly in the plane in which their body began.
  std::vector<Index> left_plane(const Matrix3X& points) const;
  /// Cells that are inverted or flat.
  std::vector<Index> inverted(const Matrix3X& points) const;
  /// Cells that are not proven to be neither on the straight way; UnprovenVolume::tetrahedron is the cell.
  std::vector<UnprovenVolume> unproven(const Matrix3X& from, const Matrix3X& to) const;
  /// Smallest area, as a share of that in `reference`; +infinity if there is none.
  double smallest_ratio(const Matrix3X& points, const Matrix3X& reference) const;

  struct Inside {
    Index point;
    int body;  ///< in a cell of which it lies
  };
  /// Of `queries`, those in a cell of another connected part, of which they see the contact. `absent`: by
  /// body.
  std::vector<Inside> inside(const Matrix3X& points, const std::vector<Index>& queries,
                             const std::vector<char>& absent, exact::PairFilter tested) const;

 private:
  Eigen::VectorXi point_body_;
  std::vector<Index> points_;  ///< of planar bodies
  VectorX level_;              ///< z of each of them at the start [m]
  Faces cells_ = Faces(3, 0);
  std::vector<Index> guarded_;  ///< cells that must not invert
  std::vector<Index> part_;     ///< of each point of the frame: the first that cells connect it with
  bool allow_nested_ = false;
};

}  // namespace apart::verify
