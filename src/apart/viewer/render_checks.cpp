#include <apart/core/error.hpp>
#include <apart/viewer/render_checks.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace apart {

namespace {

template <class Cells>
void check_drawn_cells(const Cells& cells, Index points) {
  if (cells.size() > 0 && (cells.minCoeff() < 0 || cells.maxCoeff() >= points))
    throw InputError("the frame has a cell with a point outside [0, {}); it is damaged", points);
}

}  // namespace

void check_drawable(const Frame& frame, const RenderOptions& options) {
  for (auto [value, name] : {std::pair{options.width, "width"}, std::pair{options.height, "height"}})
    if (value < 16 || value > 8192)
      throw InputError("{} of the picture: got {} pixels, must lie in [16, 8192]", name, value);
  if (options.samples < 1 || options.samples > 4096)
    throw InputError("samples per pixel: got {}, must lie in [1, 4096]", options.samples);
  if (frame.point_body.size() != frame.mesh.point_count())
    throw InputError("the frame has {} points but bodies of {}; it is damaged", frame.mesh.point_count(),
                     frame.point_body.size());
  check_drawn_cells(frame.mesh.tetrahedra, frame.mesh.point_count());
  check_drawn_cells(frame.mesh.faces, frame.mesh.point_count());
  check_drawn_cells(frame.mesh.edges, frame.mesh.point_count());
  check_drawn_cells(frame.mesh.vertices, frame.mesh.point_count());
  if (frame.point_body.size() > 0 &&
      (frame.point_body.minCoeff() < 0 || frame.point_body.maxCoeff() >= Index(frame.bodies.size())))
    throw InputError("the frame has a point of a body outside [0, {}); it is damaged", frame.bodies.size());
  for (Index i = 0; i < frame.mesh.point_count(); ++i)
    if (!frame.mesh.points.col(i).allFinite())
      throw InputError("point {} of the frame at {} s is not finite; draw an earlier frame", i, frame.time);
  if (const auto& c = options.colouring;
      c && !(std::isfinite(c->low) && std::isfinite(c->high) && c->reach > 0))
    throw InputError("colours: the ends must be finite, got {} and {}", c->low, c->high);
  if (const auto& c = options.camera) {
    if (!c->eye.allFinite() || !c->target.allFinite() || !(c->scene_size > 0) ||
        !std::isfinite(c->scene_size) || !((c->eye - c->target).cross(c->up).norm() > 0))
      throw InputError(
          "camera: eye, target and size must be finite, and up must not be the direction of view");
    if (!(c->field_of_view > 1 && c->field_of_view < 150))
      throw InputError("camera: field of view: got {} degrees, must lie in (1, 150)", c->field_of_view);
  }
}

Camera chosen_camera(const Frame& frame, const RenderOptions& options) {
  // The automatic camera squares and adds coordinates.
  if (!options.camera && !(frame.mesh.points.array().abs() <= 1e100).all())
    throw InputError(
        "the frame at {} s has coordinates beyond 1e100 m, too large to be drawn; draw an earlier frame",
        frame.time);
  const Camera camera =
      options.camera ? *options.camera : automatic_camera(frame, double(options.width) / options.height);
  // Coordinates near the eye are known to 1e-7 of its distance: from here on a hundredth of the scene or
  // more. Even the narrowest view in the largest picture would show the scene as a few pixels.
  constexpr double farthest_eye = 1e5;
  const double distance = (camera.eye - camera.target).stableNorm();
  if (!(distance <= farthest_eye * camera.scene_size))
    throw InputError(
        "camera: the eye is {:.3g} m from the target, what it looks at is {:.3g} m large, so nothing could "
        "be seen; "
        "come nearer than {:.3g} m",
        distance, camera.scene_size, farthest_eye * camera.scene_size);
  // Farther than this from what is looked at, squares of coordinates leave single precision.
  constexpr double farthest_point = 1e15;
  for (Index i = 0; i < frame.mesh.point_count(); ++i) {
    const Vector3 x = frame.mesh.points.col(i);
    const double away = (x - camera.target).cwiseAbs().maxCoeff();
    const auto body = frame.point_body[i];
    if (away <= farthest_point * camera.scene_size || std::ranges::count(frame.absent, body) > 0) continue;
    throw InputError(
        "body '{}': its point at ({:.3g}, {:.3g}, {:.3g}) m is {:.3g} m from the camera's target, more than "
        "{:.0g} "
        "times the {:.3g} m that are shown, and cannot be drawn; choose a nearer target, or draw an earlier "
        "frame",
        frame.bodies[std::size_t(body)].name, x[0], x[1], x[2], away, farthest_point, camera.scene_size);
  }
  return camera;
}

}  // namespace apart
