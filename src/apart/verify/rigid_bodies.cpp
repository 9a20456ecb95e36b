#include <apart/verify/far_corners.hpp>
#include <apart/verify/rigid_bodies.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace apart::verify {

namespace {

// What rounding explains. However many iterates there were, points are turned by a matrix that is a rotation
// to a few units of rounding (2e-16), and added up from four nodes with weights whose magnitudes sum up to 7
// at most; the nodes are as far from the body as its centre of mass, which a scene may place outside. Seen
// over thousands of steps: 7e-16 of size and coordinates, and 1e-13 of a body of 0.1 m whose centre is 1 km
// away.
constexpr double kept_share = 1e-12, rounding_share = 1e-13;

double corner_volume6(const Matrix3X& x, const std::array<Index, 4>& c) {
  const Vector3 o = x.col(c[0]);
  return (x.col(c[1]) - o).cross(x.col(c[2]) - o).dot(x.col(c[3]) - o);
}

}  // namespace

RigidBodies::RigidBodies(const Frame& first) {
  const Matrix3X& x = first.mesh.points;
  std::vector<std::vector<Index>> points(first.bodies.size());
  for (Index i = 0; i < x.cols(); ++i)
    if (const auto body = std::size_t(first.point_body[i]); first.bodies[body].kind == "rigid")
      points[body].push_back(i);
  for (std::size_t b = 0; b < points.size(); ++b) {
    const std::vector<Index>& list = points[b];
    if (list.empty() || !x(Eigen::all, list).allFinite()) continue;
    Shape shape{int(b), far_corners(x, list), list, {}, 0, 0};
    const auto& c = shape.corners;
    shape.distances.resize(4, Index(list.size()));
    for (std::size_t i = 0; i < list.size(); ++i)
      for (int k = 0; k < 4; ++k)
        shape.distances(k, Index(i)) = (x.col(list[i]) - x.col(c[std::size_t(k)])).norm();
    shape.size = shape.distances.maxCoeff();
    const double volume6 = corner_volume6(x, c);
    if (std::abs(volume6) > 1e-6 * std::pow(shape.size, 3)) shape.volume6 = volume6;
    shapes_.push_back(std::move(shape));
  }
}

std::vector<RigidBodies::Deformed> RigidBodies::deformed(const Matrix3X& points,
                                                         const std::vector<char>& absent) const {
  std::vector<Deformed> found;
  for (const Shape& shape : shapes_) {
    if (absent[std::size_t(shape.body)]) continue;
    const double allowed =
        kept_share * shape.size + rounding_share * points(Eigen::all, shape.points).cwiseAbs().maxCoeff();
    Deformed worst{shape.body, shape.corners[0], 0, false};
    for (std::size_t i = 0; i < shape.points.size(); ++i)
      for (int k = 0; k < 4; ++k) {
        const double now = (points.col(shape.points[i]) - points.col(shape.corners[std::size_t(k)])).norm();
        const double off = std::abs(now - shape.distances(k, Index(i)));
        if (off > worst.off) worst = {shape.body, shape.points[i], off, false};
      }
    if (!(worst.off <= allowed))
      found.push_back(worst);
    else if (shape.volume6 * corner_volume6(points, shape.corners) < 0)
      found.push_back({shape.body, shape.corners[0], 0, true});
  }
  return found;
}

}  // namespace apart::verify
