#pragma once
// A small good run made by hand: a soft block that sinks onto an obstacle, an affine block beside it, a
// half-space below. Tests spoil it in one way each.
#include <apart/geometry/generators.hpp>
#include <support/frame_builder.hpp>
#include <support/temporary_directory.hpp>

namespace apart::test {

class RunFixture : public FrameBuilder {
 public:
  static constexpr int soft = 0, stiff = 1, table = 2, ground = 3;  ///< indices of the bodies

  RunFixture() {
    add({"soft", "volume"}, generate::box(Vector3(1, 1, 1), Eigen::Vector3i(2, 2, 2)), {0, 2, 0});
    add({"stiff", "affine"}, generate::box(Vector3(1, 1, 1), Eigen::Vector3i(1, 1, 1)), {3, 2, 0});
    add({"table", "obstacle"}, generate::grid(2, 2, 3, 3), {0, 1, 0});
    add_half_space("ground", Vector3::Zero(), Vector3::UnitY());
  }

  /// The soft block after moving down by `depth`: it starts 0.5 above the table.
  Frame sunk(double time, double depth) const {
    Frame f = frame;
    f.time = time;
    f.mesh.points.block(1, 0, 1, first_point(stiff)).array() -= depth;
    return f;
  }
};

}  // namespace apart::test
