#include <apart/viewer/body_polygons.hpp>
#include <apart/viewer/drawn_surface.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace apart {

namespace {

using Triangle = std::array<int, 3>;

/// The corners in ascending order, and whether that is an odd permutation of them.
std::pair<Triangle, bool> sorted(Triangle t) {
  bool odd = false;
  const auto order = [&](int i, int j) {
    if (t[std::size_t(i)] > t[std::size_t(j)]) {
      std::swap(t[std::size_t(i)], t[std::size_t(j)]);
      odd = !odd;
    }
  };
  order(0, 1);
  order(1, 2);
  order(0, 1);
  return {t, odd};
}

/// Points of a body by place.
class PointsByPlace {
 public:
  PointsByPlace(const Frame& frame, int body) : points_(frame.mesh.points) {
    for (int p = 0; p < frame.mesh.point_count(); ++p)
      if (frame.point_body[p] == body) order_.push_back(p);
    first_ = order_.empty() ? 0 : order_.front();
    count_ = Index(order_.size());
    std::sort(order_.begin(), order_.end(), [&](int a, int b) { return points_(0, a) < points_(0, b); });
  }

  /// The nearest within the tolerance of x, −1: none; of several in one place that of the given number in the
  /// body.
  int find(const Vector3& x, Index number, double tolerance) const {
    const auto distance = [&](int p) { return (points_.col(p) - x).norm(); };
    int best = -1;
    double least = tolerance;
    auto at = std::lower_bound(order_.begin(), order_.end(), x[0] - tolerance,
                               [&](int p, double value) { return points_(0, p) < value; });
    for (; at != order_.end() && points_(0, *at) <= x[0] + tolerance; ++at) {
      const double d = distance(*at);
      if (d < least || (d <= least && (best < 0 || *at == first_ + number))) {
        best = *at;
        least = d;
      }
    }
    return best;
  }

  /// The point of that number in the body; −1: none.
  int number(int p) const { return p < count_ ? int(first_) + p : -1; }

 private:
  const Matrix3X& points_;
  std::vector<int> order_;  ///< by x
  Index first_ = 0, count_ = 0;
};

/// Numbers the pairs of point and normal of the file.
void number_normals(BodyPolygons& polygons, const std::vector<int>& normals) {
  if (std::find(normals.begin(), normals.end(), -1) != normals.end()) return;
  std::map<std::pair<int, int>, int> number;
  for (std::size_t c = 0; c < normals.size(); ++c)
    polygons.normals.push_back(
        number.try_emplace({polygons.corners[c], normals[c]}, int(number.size())).first->second);
  polygons.normal_count = int(number.size());
}

}  // namespace

namespace {

using OpenTriangles = std::map<Triangle, bool>;  ///< corners in ascending order → whether they were reordered

/// `onto`: the point of the frame for each of the file; −1: none. `open`: the triangles of the body.
std::optional<BodyPolygons> covering(OpenTriangles open, const ObjPolygons& source,
                                     const std::vector<int>& onto) {
  BodyPolygons result;
  result.sizes = source.sizes;
  std::vector<int> texture = source.texture, normals = source.normals;
  for (const int p : source.corners) {
    if (onto[std::size_t(p)] < 0) return {};
    result.corners.push_back(onto[std::size_t(p)]);
  }
  std::size_t begin = 0;
  for (const int size : source.sizes) {
    const std::size_t end = begin + std::size_t(size);
    bool turned = false;
    for (std::size_t k = begin + 2; k < end; ++k) {  // the fan that the reader makes of a polygon
      const auto [key, odd] = sorted({result.corners[begin], result.corners[k - 1], result.corners[k]});
      const auto at = open.find(key);
      if (at == open.end()) return {};
      turned = at->second != odd;
      open.erase(at);
    }
    if (turned)
      for (std::vector<int>* list : {&result.corners, &texture, &normals})
        std::reverse(list->begin() + std::ptrdiff_t(begin), list->begin() + std::ptrdiff_t(end));
    begin = end;
  }
  if (!open.empty()) return {};
  if (std::find(texture.begin(), texture.end(), -1) == texture.end()) {
    result.texture.resize(2, Eigen::Index(texture.size()));
    for (std::size_t c = 0; c < texture.size(); ++c)
      result.texture.col(Eigen::Index(c)) = source.texture_points.col(texture[c]);
  }
  number_normals(result, normals);
  return result;
}

}  // namespace

std::optional<BodyPolygons> matched_polygons(const Frame& first, int body, const ObjPolygons& source,
                                             double tolerance) {
  const DrawnSurface drawn = drawn_surface(first);
  OpenTriangles open;
  for (const auto& t : drawn.triangles.colwise()) {
    const Triangle corners{drawn.points[t[0]], drawn.points[t[1]], drawn.points[t[2]]};
    if (first.point_body[corners[0]] != body) continue;
    const auto [key, odd] = sorted(corners);
    if (!open.try_emplace(key, odd).second) return {};  // twice the same triangle
  }
  if (open.empty() || source.sizes.empty()) return {};
  const PointsByPlace places(first, body);
  std::vector<int> onto(std::size_t(source.points.cols()));
  for (int p = 0; p < source.points.cols(); ++p)
    onto[std::size_t(p)] = places.find(source.points.col(p), p, tolerance);
  if (auto found = covering(open, source, onto)) return found;
  // A body that starts elsewhere: its points are those of the file, unless some were merged.
  for (int p = 0; p < source.points.cols(); ++p) onto[std::size_t(p)] = places.number(p);
  return covering(std::move(open), source, onto);
}

BodyPolygons polygons_of(const Faces& triangles) {
  BodyPolygons result;
  result.sizes.assign(std::size_t(triangles.cols()), 3);
  result.corners.assign(triangles.data(), triangles.data() + triangles.size());
  return result;
}

Matrix3X corner_normals(const BodyPolygons& polygons, const Matrix3X& points) {
  Matrix3X sum = Matrix3X::Zero(3, polygons.normal_count);
  std::size_t begin = 0;
  for (const int size : polygons.sizes) {
    const std::size_t end = begin + std::size_t(size);
    const Vector3 origin = points.col(polygons.corners[begin]);
    Vector3 area = Vector3::Zero();  // twice
    for (std::size_t k = begin + 2; k < end; ++k)
      area += (points.col(polygons.corners[k - 1]) - origin)
                  .cross(Vector3(points.col(polygons.corners[k]) - origin));
    for (std::size_t k = begin; k < end; ++k) sum.col(polygons.normals[k]) += area;
    begin = end;
  }
  for (Index n = 0; n < sum.cols(); ++n) {
    const double length = sum.col(n).norm();
    sum.col(n) = length > 0 ? Vector3(sum.col(n) / length) : Vector3(Vector3::UnitY());  // of no area
  }
  return sum;
}

}  // namespace apart
