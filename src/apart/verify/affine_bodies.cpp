#include <apart/verify/affine_bodies.hpp>
#include <apart/verify/far_corners.hpp>

#include <Eigen/Geometry>
#include <algorithm>

namespace apart::verify {

AffineBodies::AffineBodies(const Frame& first, const exact::Surface& surface) {
  const Matrix3X& x = first.mesh.points;
  std::vector<std::vector<Index>> points(first.bodies.size());
  const auto add = [&](Index point) {
    const auto body = std::size_t(first.point_body[point]);
    if (first.bodies[body].kind == "affine") points[body].push_back(point);
  };
  for (const auto& v : surface.vertices) add(v.vertices[0]);
  for (const int point : first.mesh.tetrahedra.reshaped()) add(point);
  for (std::size_t b = 0; b < points.size(); ++b) {
    std::vector<Index>& list = points[b];
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    if (list.size() < 4 || !x(Eigen::all, list).allFinite()) continue;
    Image image;
    image.body = int(b);
    image.corners = far_corners(x, list);
    auto& c = image.corners;
    const Vector3 o = x.col(c[0]);
    image.size = (x.col(c[1]) - o).norm();
    if (exact::orientation(x.col(c[0]), x.col(c[1]), x.col(c[2]), x.col(c[3])) < 0) std::swap(c[2], c[3]);
    Matrix3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = x.col(c[k + 1]) - o;
    const auto inverse = edges.fullPivLu();
    image.points = list;
    image.weights.resize(3, Index(list.size()));
    for (Index i = 0; i < Index(list.size()); ++i) image.weights.col(i) = inverse.solve(x.col(list[i]) - o);
    images_.push_back(std::move(image));
  }
  corners_.resize(4, count());
  for (Index i = 0; i < count(); ++i)
    for (int k = 0; k < 4; ++k) corners_(k, i) = int(images_[std::size_t(i)].corners[std::size_t(k)]);
}

std::vector<AffineBodies::Wrong> AffineBodies::wrong(const Matrix3X& points,
                                                     const std::vector<char>& absent) const {
  std::vector<Wrong> found;
  for (const Image& image : images_) {
    if (absent[std::size_t(image.body)]) continue;
    const Vector3 o = points.col(image.corners[0]);
    Matrix3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = Vector3(points.col(image.corners[std::size_t(k) + 1])) - o;
    const double largest = points(Eigen::all, image.points).cwiseAbs().maxCoeff();
    // Corners that lie in a plane but for the rounding of their coordinates say nothing of which side is
    // which.
    const double longest = edges.colwise().norm().maxCoeff();
    const double rounding = 32 * unit_roundoff * (largest + longest) * longest * longest;
    const double volume = edges.determinant() / 6;
    if (!(edges.determinant() > rounding)) {
      found.push_back({image.body, image.corners, volume, -1, 0});
      continue;
    }
    // Rounded coordinates of the corners and of the point, with the weights they have in it.
    for (Index i = 0; i < Index(image.points.size()); ++i) {
      const Index point = image.points[std::size_t(i)];
      const Vector3 w = image.weights.col(i), x = points.col(point);
      const double off = (x - o - edges * w).norm();
      if (off <= 1e-9 * std::max(image.size, longest) + 1e-13 * largest * (1 + w.lpNorm<1>())) continue;
      found.push_back({image.body, image.corners, volume, point, off});
      break;  // one of them says it
    }
  }
  return found;
}

}  // namespace apart::verify
