#include <apart/geometry/squared_distance.hpp>
#include <apart/scene/surface_tree.hpp>

#include <algorithm>
#include <span>

namespace apart {

namespace {

/// Takes the nearer of `best` and the point of a primitive nearest to x.
void consider(Foot& best, const Vector3& x, const Matrix3X& points, std::span<const int> corners) {
  constexpr PairKind kinds[] = {PairKind::point_point, PairKind::point_edge, PairKind::point_triangle};
  StencilPoints stencil;
  stencil[0] = x;
  for (std::size_t k = 0; k < corners.size(); ++k) stencil[k + 1] = points.col(corners[k]);
  const ClosestPoints closest = closest_points(kinds[corners.size() - 1], stencil);
  if (!(closest.r.norm() < best.distance)) return;
  best = {};
  best.distance = closest.r.norm();
  for (std::size_t k = 0; k < corners.size(); ++k) {
    best.points[k] = corners[k];
    best.weights[Index(k)] = -closest.weights[Index(k) + 1];
  }
}

}  // namespace

SurfaceTree::SurfaceTree(const Body& body, bool on_vertices) : points_(body.mesh.points) {
  const auto add = [&](std::span<const int> corners) {
    Primitive p;
    p.size = int(corners.size());
    std::copy(corners.begin(), corners.end(), p.corners.begin());
    p.number = int(primitives_.size());
    primitives_.push_back(p);
  };
  if (on_vertices) {
    for (const Index p : body.surface_points) add(std::array{int(p)});
  } else {
    for (Index f = 0; f < body.surface_faces.cols(); ++f) add(std::span(body.surface_faces.col(f).data(), 3));
    for (Index e = 0; e < body.free_segments.cols(); ++e) add(std::span(body.free_segments.col(e).data(), 2));
    for (Index i = 0; i < body.mesh.vertices.size(); ++i) add(std::array{body.mesh.vertices[i]});
  }
  if (!primitives_.empty()) build(0, primitives_.size());
}

Foot SurfaceTree::nearest(const Vector3& x) const {
  Foot best;
  int number = -1;
  if (!nodes_.empty()) search(0, x, best, number);
  return best;
}

std::size_t SurfaceTree::build(std::size_t begin, std::size_t end) {
  const std::size_t here = nodes_.size();
  nodes_.push_back({{}, begin, end, 0});
  Aabb box, centres;
  for (std::size_t i = begin; i < end; ++i)
    for (int k = 0; k < primitives_[i].size; ++k)
      box.include(Vector3(points_.col(primitives_[i].corners[std::size_t(k)])));
  const auto corner = [&](const Primitive& p) -> Vector3 { return points_.col(p.corners[0]); };
  for (std::size_t i = begin; i < end; ++i) centres.include(corner(primitives_[i]));
  nodes_[here].box = box;
  if (end - begin <= 8) return here;
  int axis;
  (centres.upper - centres.lower).maxCoeff(&axis);
  const std::size_t middle = (begin + end) / 2;
  std::nth_element(primitives_.begin() + std::ptrdiff_t(begin), primitives_.begin() + std::ptrdiff_t(middle),
                   primitives_.begin() + std::ptrdiff_t(end), [&](const Primitive& a, const Primitive& b) {
                     return std::pair(corner(a)[axis], a.number) < std::pair(corner(b)[axis], b.number);
                   });
  build(begin, middle);
  const std::size_t right = build(middle, end);
  nodes_[here].right = right;
  return here;
}

double SurfaceTree::distance(std::size_t node, const Vector3& x) const {
  const Aabb& box = nodes_[node].box;
  return (box.lower - x).cwiseMax(x - box.upper).cwiseMax(0).norm();
}

void SurfaceTree::search(std::size_t at, const Vector3& x, Foot& best, int& number) const {
  const Node& node = nodes_[at];
  if (node.right == 0) {
    for (std::size_t i = node.begin; i < node.end; ++i) {
      const Primitive& p = primitives_[i];
      Foot foot;
      consider(foot, x, points_, std::span(p.corners.data(), std::size_t(p.size)));
      if (foot.distance < best.distance || (foot.distance == best.distance && p.number < number)) {
        best = foot;
        number = p.number;
      }
    }
    return;
  }
  const double left = distance(at + 1, x), right = distance(node.right, x);
  // Rounding must not hide one that is equally near.
  const auto look = [&](std::size_t child, double d) {
    if (d <= best.distance * (1 + 1e-12)) search(child, x, best, number);
  };
  if (left <= right) {
    look(at + 1, left);
    look(node.right, right);
  } else {
    look(node.right, right);
    look(at + 1, left);
  }
}

}  // namespace apart
