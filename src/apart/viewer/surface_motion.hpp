#pragma once
#include <apart/viewer/drawn_surface.hpp>
#include <apart/viewer/shapes.hpp>
#include <apart/viewer/surface_files.hpp>

#include <functional>
#include <vector>

namespace apart {

/// One body of a run, as other programs need it: its own points, and the cells drawn on them.
struct MovingBody {
  std::string name, kind;
  int body = 0;          ///< index in the frames
  double thickness = 0;  ///< [m] see drawn_thickness; 0: none
  Vector3f colour;       ///< linear
  Faces triangles;
  BodyPolygons polygons;  ///< the same faces as the mesh file has them, or as triangles
  Edges segments;
  Eigen::VectorXi balls;
  /// One for each frame, or a single one if it never moves; relative to the origin [m].
  std::vector<Matrix3Xf> points;
  std::vector<char> present;  ///< in each frame
  bool always_present() const;
};

/// What is seen of a run over time.
struct SurfaceMotion {
  std::vector<double> times;       ///< [s]
  Vector3 origin;                  ///< [m], world; taken off all points so that single precision is enough
  Vector3 up;                      ///< the axis that looks like up
  std::vector<MovingBody> bodies;  ///< half-spaces among them: squares, eight sizes wide, that face outwards
  double size = 1;                 ///< [m] of the first frame
};

/// Called after each frame, with the number done and the number of all; false stops.
using FrameProgress = std::function<bool(Index done, Index all)>;

/// Reads the frames. `polygons`: of bodies, in their order in the frames. Throws InputError if bodies or
/// cells change from one to another, a frame cannot be read or has coordinates that single precision cannot
/// hold; ExportStopped if `progress` says so.
SurfaceMotion read_motion(const std::vector<std::filesystem::path>& frames, const FrameProgress& progress,
                          ShownSurface surface, const PolygonsOfBodies& polygons = {});

/// The user has stopped the export.
struct ExportStopped {};

}  // namespace apart
