#pragma once
// A small good run made by hand: a soft block that sinks onto an obstacle, an affine block beside it, a
// half-space below. Tests spoil it in one way each.
#include <apart/geometry/generators.hpp>
#include <apart/io/frame.hpp>
#include <support/temporary_directory.hpp>

namespace apart::verify {

class RunFixture {
 public:
  RunFixture() {
    add({"soft", "volume"}, generate::box(Vector3(1, 1, 1), Eigen::Vector3i(2, 2, 2)), {0, 2, 0});
    add({"stiff", "affine"}, generate::box(Vector3(1, 1, 1), Eigen::Vector3i(1, 1, 1)), {3, 2, 0});
    add({"table", "obstacle"}, generate::grid(2, 2, 3, 3), {0, 1, 0});
    add({"ground", "half_space"}, Mesh{}, {0, 0, 0});
    frame_.half_spaces.push_back({Vector3::Zero(), Vector3::UnitY(), 3});
  }

  Frame& frame() { return frame_; }
  Index first_point(int body) const { return first_[body]; }

  /// The block after moving down by `depth`: it starts 0.5 above the table.
  Frame sunk(double time, double depth) const {
    Frame f = frame_;
    f.time = time;
    f.mesh.points.block(1, 0, 1, first_[1]).array() -= depth;
    return f;
  }

  /// Adds a body; its cells and points come last.
  void add(const FrameBody& body, Mesh mesh, const Vector3& offset) {
    if (mesh.point_count() > 0) mesh.points.colwise() += offset;
    const Index n = frame_.mesh.point_count();
    first_.push_back(n);
    const int id = int(frame_.bodies.size());
    frame_.bodies.push_back(body);
    frame_.point_body.conservativeResize(n + mesh.point_count());
    frame_.point_body.tail(mesh.point_count()).setConstant(id);
    auto append = [](auto& all, const auto& more) {
      const auto old = all.cols();
      all.conservativeResize(all.rows(), old + more.cols());
      all.rightCols(more.cols()) = more;
    };
    auto shifted = [n](auto cells) {
      cells.array() += n;
      return cells;
    };
    append(frame_.mesh.points, mesh.points);
    append(frame_.mesh.tetrahedra, shifted(mesh.tetrahedra));
    append(frame_.mesh.faces, shifted(mesh.faces));
    append(frame_.mesh.edges, shifted(mesh.edges));
    const Index old = Index(frame_.mesh.vertices.size());
    frame_.mesh.vertices.conservativeResize(old + mesh.vertices.size());
    frame_.mesh.vertices.tail(mesh.vertices.size()) = mesh.vertices.array() + n;
  }

 private:
  Frame frame_;
  std::vector<Index> first_;
};

}  // namespace apart::verify
