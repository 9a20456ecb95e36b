#pragma once
// Pictures of frames, by ray tracing on the CPU.
#include <apart/viewer/camera.hpp>
#include <apart/viewer/png.hpp>

#include <filesystem>
#include <optional>

namespace apart {

struct RenderOptions {
  int width = 1280, height = 960;  ///< [pixels], 16 to 8192 each
  int samples = 16;                ///< rays per pixel, 1 to 4096
  std::optional<Camera> camera;    ///< none: automatic_camera
};

/// Draws a frame: simulated bodies in one colour each, obstacles in grey, half-spaces as ground, segments and
/// free points as tubes and balls; soft light from the sky and a lamp. Obstacles that hide the bodies are
/// drawn as if of glass. The same picture, bit by bit, for any number of threads. Throws InputError if an
/// option is out of range or a coordinate is not finite.
Image draw(const Frame& frame, const RenderOptions& options);

/// The same as a PNG file, written atomically.
void render(const Frame& frame, const RenderOptions& options, const std::filesystem::path& png);

}  // namespace apart
