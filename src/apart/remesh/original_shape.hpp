#pragma once
// The rest shape that a scene gives, to which meshes stay near that may change it.
#include <apart/bodies/body_shape.hpp>
#include <apart/remesh/box_index.hpp>

#include <array>
#include <vector>

namespace apart {

/// A facet or segment of a surface at rest, or an edge along which it is creased.
struct SurfacePiece {
  std::array<Vector3, 3> corners = {};  ///< the first `size` [m]
  int size = 0;
  Vector3 normal = Vector3::Zero();  ///< outward, of length 1; of creases zero
  std::vector<int> sets = {};        ///< that it belongs to, ascending

  Aabb box(double margin = 0) const;
  /// [m]
  double distance(const Vector3& x) const;
  /// Whether one may stand for the other: they belong to the same sets, and face the same way.
  bool matches(const SurfacePiece& other) const;
};
using SurfacePieces = std::vector<SurfacePiece>;

/// Whether every point of a piece is within `tolerance` of a piece of `by` that matches it. `gone`: points
/// farther than that from all of these do not matter. Rigorous: it holds if it says so, up to rounding; it
/// may say no where it would take very small parts to see.
bool is_covered(const SurfacePiece& piece, const SurfacePieces& by, double tolerance,
                const SurfacePieces* gone = nullptr);

/// Pieces that can be found by place.
class PlacedPieces {
 public:
  explicit PlacedPieces(SurfacePieces pieces);
  /// Those near a place that match a piece.
  SurfacePieces near(const Aabb& box, const SurfacePiece& like) const;

 private:
  SurfacePieces pieces_;
  BoxIndex index_;
};

/// The surface of a body at rest in the scene, and how far that of its later meshes may be from it, and it
/// from them.
class OriginalShape {
 public:
  OriginalShape(const BodyShape& shape, bool is_shell, double tolerance);

  struct Surface {
    PlacedPieces facets, creases;
  };
  double tolerance() const { return tolerance_; }  ///< [m]
  /// By the number of the position: that of the rest shape, and of the placement if it is another.
  const Surface& surface(std::size_t which) const { return surfaces_[which]; }

 private:
  double tolerance_;
  std::vector<Surface> surfaces_;
};

/// Has a body keep its mass on all its meshes: its density follows its volume.
void keep_mass(Body& body);
/// Part of a body, of the density that it has now.
Body part_of(const Body& whole, const BodyShape& shape);
/// Multiplies density and mass.
void scale_density(Body& body, double factor);

}  // namespace apart
