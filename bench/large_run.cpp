// apart_large_run DIRECTORY TRIANGLES FRAMES: writes a run to measure the viewer with: a waving sheet over a
// floor.
#include <apart/core/error.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/frame.hpp>
#include <apart/io/run_frames.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>

int main(int argc, char** argv) try {
  using namespace apart;
  const auto triangles = argc == 4 ? parse_integer(argv[2]) : std::nullopt;
  const auto frames = argc == 4 ? parse_integer(argv[3]) : std::nullopt;
  if (!triangles || !frames || *triangles < 2 || *frames < 1)
    throw InputError("usage: apart_large_run DIRECTORY TRIANGLES FRAMES");
  const int side = int(std::ceil(std::sqrt(double(*triangles) / 2)));
  Frame frame;
  frame.bodies = {{"sheet", "volume"}, {"floor", "half_space"}};
  frame.half_spaces = {{Vector3(0, -0.3, 0), Vector3::UnitY(), 1}};
  frame.mesh.points.resize(3, (side + 1) * (side + 1));
  frame.mesh.faces.resize(3, 2 * side * side);
  frame.point_body = Eigen::VectorXi::Zero(frame.mesh.points.cols());
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      const int a = i * (side + 1) + j, b = a + 1, c = a + side + 1, d = c + 1;
      frame.mesh.faces.col(2 * (i * side + j)) << a, b, c;
      frame.mesh.faces.col(2 * (i * side + j) + 1) << b, d, c;
    }
  FrameWriter writer(argv[1]);
  for (int f = 0; f < *frames; ++f) {
    frame.time = 0.02 * f;
    for (int i = 0; i <= side; ++i)
      for (int j = 0; j <= side; ++j) {
        const double x = double(i) / side - 0.5, z = double(j) / side - 0.5;
        const double wave = 0.1 * std::sin(12 * x + 3 * frame.time) * std::cos(9 * z - 2 * frame.time);
        const double ripple = 0.01 * std::sin(90 * (x * x + z * z) - 8 * frame.time);
        frame.mesh.points.col(i * (side + 1) + j) << x, wave + ripple, z;
      }
    writer.write(frame);
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
