#pragma once
#include <apart/io/frame.hpp>

namespace apart {

/// The visible part of a frame, and the cells it comes from. Cells are numbered as in the frame's file:
/// tetrahedra, faces, edges, free points.
struct DrawnSurface {
  Eigen::VectorXi points;         ///< points of the frame that a cell below uses, ascending
  Faces triangles;                ///< the boundary of volumes, then the faces; index `points`
  Eigen::VectorXi triangle_cell;  ///< cell of the frame that each triangle belongs to
  Edges segments;                 ///< index `points`
  Eigen::VectorXi balls;          ///< free points; index `points`
};

DrawnSurface drawn_surface(const Frame& frame);

/// Which surface is shown of volumes of curved cells, or with a collision surface of their own.
enum class ShownSurface {
  shape,      ///< the curved boundary, cut finely; of a body with a collision mesh of its own, that
  collision,  ///< what contact sees
  cells       ///< the boundary of the cells, whatever contact sees
};
/// As users write it: its name above. Throws InputError for any other.
ShownSurface surface_named(std::string_view name);
std::string_view name_of(ShownSurface surface);
/// Whether a frame of a run has more than one of them.
bool has_other_surfaces(const Frame& frame);
/// The frame with that surface. Points of the frame keep their numbers; those of a finer surface follow them.
/// Forces of contact are known at the points of the frame alone: at others they are zero.
Frame shown_frame(Frame frame, ShownSurface shown = ShownSurface::shape);

/// Equal for frames with the same bodies and cells on the same points, different otherwise (but for chance,
/// 1 : 2⁶⁴).
std::uint64_t topology_key(const Frame& frame);

/// "tetrahedron", "triangle", "segment" or "point", and the number among its like.
struct NumberedCell {
  std::string_view kind;
  Index number = 0;
  Index size = 0;      ///< number of its points
  const int* corners;  ///< its points, of the frame
};
/// Throws InputError if the frame has no such cell.
NumberedCell cell_of(const Frame& frame, Index cell);

}  // namespace apart
