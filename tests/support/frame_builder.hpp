#pragma once
// Frames put together by hand, body by body.
#include <apart/io/frame.hpp>

namespace apart::test {

class FrameBuilder {
 public:
  /// Adds a body; its points and cells come last. Returns its index.
  int add(const FrameBody& body, Mesh mesh, const Vector3& offset = Vector3::Zero()) {
    if (mesh.point_count() > 0) mesh.points.colwise() += offset;
    Mesh& all = frame.mesh;
    const Index n = all.point_count();
    first_.push_back(n);
    const int id = int(frame.bodies.size());
    frame.bodies.push_back(body);
    frame.point_body.conservativeResize(n + mesh.point_count());
    frame.point_body.tail(mesh.point_count()).setConstant(id);
    append(all.points, mesh.points);
    append(all.tetrahedra, (mesh.tetrahedra.array() + n).matrix());
    append(all.faces, (mesh.faces.array() + n).matrix());
    append(all.edges, (mesh.edges.array() + n).matrix());
    const auto old = all.vertices.size();
    all.vertices.conservativeResize(old + mesh.vertices.size());
    all.vertices.tail(mesh.vertices.size()) = mesh.vertices.array() + n;
    return id;
  }

  /// Gives a half-space a point that carries it; after all other bodies.
  void carry(int id) {
    for (HalfSpace& plane : frame.half_spaces) {
      if (plane.body != id) continue;
      plane.carrier = frame.mesh.point_count();
      frame.mesh.points.conservativeResize(3, plane.carrier + 1);
      frame.mesh.points.col(plane.carrier) = plane.origin;
      frame.point_body.conservativeResize(plane.carrier + 1);
      frame.point_body[plane.carrier] = id;
    }
  }
  int add_half_space(const std::string& name, const Vector3& origin, const Vector3& normal) {
    const int id = add({name, "half_space"}, Mesh{});
    frame.half_spaces.push_back({origin, normal.normalized(), id});
    return id;
  }

  Index first_point(int body) const { return first_[std::size_t(body)]; }

  Frame frame;

 private:
  template <class Matrix, class Block>
  static void append(Matrix& all, const Block& more) {
    const auto old = all.cols();
    all.conservativeResize(all.rows(), old + more.cols());
    all.rightCols(more.cols()) = more;
  }

  std::vector<Index> first_;
};

}  // namespace apart::test
