#pragma once
#include <apart/collision/collision_surface.hpp>
#include <apart/collision/stencil.hpp>
#include <apart/core/function_ref.hpp>
#include <apart/geometry/aabb.hpp>

#include <span>
#include <vector>

namespace apart {

struct Model;

/// A connected part of the collision surface, by itself.
struct SurfacePiece {
  int body = 0;
  std::vector<Index> vertices, edges, free_edges, faces;  ///< ascending
  bool is_sheet = false;    ///< without thickness, or nearly so: its width is that of the sheet
  bool is_slender = false;  ///< rods, and segments and points that are obstacles
  double smallest = 0;      ///< [m]: no width of it that counts is smaller; of slender ones the length
  double wave_speed = 0;    ///< [m/s] of volumes and affine bodies, 0 of all others
  double wave_time = 0;     ///< [s] that such a wave takes along it, at most
};

/// All pieces of a model, by their smallest vertices; half-spaces are none.
std::vector<SurfacePiece> surface_pieces(const Model& model);

/// A box around the points of a piece, turned as they are spread.
struct PieceExtent {
  Matrix3 axes = Matrix3::Identity();  ///< columns, from the longest to the shortest
  Vector3 width = Vector3::Zero();     ///< [m] along these
  /// `margin` [m]: how far the surface reaches beyond the points.
  PieceExtent(const Matrix3X& x, const std::vector<Index>& points, double margin);
  /// [m] in a direction of length 1.
  double along(const Vector3& unit) const { return (axes.transpose() * unit).cwiseAbs().dot(width); }
};
/// Where its vertices are now; of a sheet only its extent in its own plane counts.
PieceExtent extent_of(const SurfacePiece& piece, const Model& model, const Matrix3X& x);
/// The smallest of the widths of all boxes together [m] in directions across n: sum over the boxes.
double width_across(std::span<const PieceExtent* const> boxes, const Vector3& n);

/// Two pieces whose vertices move from x by `move`.
struct PiecesInMotion {
  const CollisionSurface& surface;
  const SurfacePiece &first, &second;
  const Matrix3X &x, &move;  ///< [m]
  Aabb way;                  ///< [m] bounds of the motion of the first relative to the second
  Vector3 frame;             ///< [m] mean motion of the second
};
/// Visits the pairs of primitives of the two that are in each other's way: whose boxes, swept by the motion
/// as it is seen from the second, come within `reach` [m] of each other.
void for_each_in_the_way(const PiecesInMotion& m, double reach, FunctionRef<void(const Stencil&)> visit);

}  // namespace apart
