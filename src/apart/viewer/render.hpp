#pragma once
// Pictures of frames, by ray tracing on the CPU.
#include <apart/viewer/camera.hpp>
#include <apart/viewer/drawn_surface.hpp>
#include <apart/viewer/png.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace apart {

/// Colours by a quantity instead of by body.
struct Colouring {
  std::string field;         ///< see point_field.hpp
  double low = 0, high = 1;  ///< what the ends of the colours stand for
  double reach = 1e-3;       ///< [m], for gaps
  Matrix3X start = {};       ///< [m] positions at the start of the run, for displacements
};

/// A colouring that spans the colour_range of every frame. Throws
/// InputError if there is no such field or a frame does not hold it.
Colouring spanning(std::string_view field, double reach, std::span<const Frame> frames, Matrix3X start = {});

/// Choices made from a frame unless they are given; in a film they must not change from picture to picture.
struct Surroundings {
  std::vector<int> glass;  ///< obstacles drawn as if of glass, as bodies of the frame
};

struct RenderOptions {
  int width = 1280, height = 960;                           ///< [pixels], 16 to 8192 each
  int samples = 16;                                         ///< rays per pixel, 1 to 4096
  std::optional<Camera> camera;                             ///< none: automatic_camera
  std::optional<Surroundings> surroundings = std::nullopt;  ///< none: as surroundings() finds them
  std::optional<Colouring> colouring = std::nullopt;        ///< none: a colour for each body
  bool legend = true;                                       ///< with a colouring: what the colours stand for
  /// Of bodies of curved cells; contact is coloured on what it sees, whatever is chosen.
  ShownSurface surface = ShownSurface::shape;
};

/// Draws a frame: simulated bodies in one colour each, obstacles in grey, half-spaces as ground, segments and
/// free points as tubes and balls; soft light from the sky and a lamp. Obstacles that hide the bodies are
/// drawn as if of glass. The same picture, bit by bit, for any number of threads. Throws InputError if an
/// option is out of range or a coordinate is not finite.
Image draw(const Frame& frame, const RenderOptions& options);

/// Those of the options or, if there are none, the obstacles that hide bodies.
Surroundings surroundings(const Frame& frame, const RenderOptions& options);

/// The same as a PNG file, written atomically.
void render(const Frame& frame, const RenderOptions& options, const std::filesystem::path& png);

}  // namespace apart
