#include <apart/viewer/fine_shapes.hpp>
#include <apart/viewer/point_field.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace apart {

namespace {

constexpr float most_bulge = 0.1f;      // of an edge's length
constexpr float share_of_gap = 0.3f;    // 4/3 of it on either side stay apart
constexpr int most_cuts = 8;            // of each edge
constexpr double most_faces = 600'000;  // of a shape, after cutting

/// An edge of a shape's triangles, a < b.
struct SharedEdge {
  int faces = 0;                                       ///< around it
  Vector3f bulge = Vector3f::Zero();                   ///< of its middle
  float gap = std::numeric_limits<float>::infinity();  ///< the least in front of the faces around it
};

using BulgingEdges = std::map<std::pair<int, int>, SharedEdge>;

std::pair<int, int> edge_key(int a, int b) {
  return {std::min(a, b), std::max(a, b)};
}

/// The edges of the shape's triangles.
BulgingEdges shared_edges(const Shape& shape) {
  BulgingEdges edges;
  for (Index f = 0; f < shape.faces.cols(); ++f)
    for (int k = 0; k < 3; ++k) {
      const int i = shape.faces(k, f), j = shape.faces((k + 1) % 3, f);
      Vector3f na = shape.corner_normals.col(3 * f + k), nb = shape.corner_normals.col(3 * f + (k + 1) % 3);
      if (i > j) std::swap(na, nb);
      SharedEdge& edge = edges[edge_key(i, j)];
      const Vector3f own = bulge(shape.points.col(std::min(i, j)), shape.points.col(std::max(i, j)), na, nb);
      // Where two faces meet in a crease, such as the rim of a cylinder, that of the curved one counts.
      if (++edge.faces <= 2 && own.norm() > edge.bulge.norm()) edge.bulge = own;
    }
  for (auto& [key, edge] : edges) {
    if (edge.faces > 2) edge.bulge.setZero();
    const float length = (shape.points.col(key.second) - shape.points.col(key.first)).norm();
    if (const float size = edge.bulge.norm(); size > most_bulge * length)
      edge.bulge *= most_bulge * length / size;
  }
  return edges;
}

float largest_bulge(const BulgingEdges& edges) {
  float largest = 0;
  for (const auto& [key, edge] : edges) largest = std::max(largest, edge.bulge.norm());
  return largest;
}

/// Nothing bulges farther than the free space in front of the triangles allows.
void limit_bulges(BulgingEdges& edges, const Shape& shape, const std::vector<float>& gap) {
  for (Index f = 0; f < shape.faces.cols(); ++f) {
    float least = std::numeric_limits<float>::infinity();
    for (const int p : shape.faces.col(f)) least = std::min(least, gap[std::size_t(p)]);
    for (int k = 0; k < 3; ++k) {
      SharedEdge& edge = edges[edge_key(shape.faces(k, f), shape.faces((k + 1) % 3, f))];
      edge.gap = std::min(edge.gap, least);
    }
  }
  for (auto& [key, edge] : edges)
    if (const float size = edge.bulge.norm(); size > share_of_gap * edge.gap)
      edge.bulge *= share_of_gap * edge.gap / size;
}

/// Appends to the columns of a matrix, with room to spare.
class Columns {
 public:
  Columns(Matrix3Xf& matrix, Eigen::Index more) : matrix_(matrix), size_(matrix.cols()) {
    matrix_.conservativeResize(3, size_ + more);
  }
  void add(const Vector3f& column) { matrix_.col(size_++) = column; }

 private:
  Matrix3Xf& matrix_;
  Eigen::Index size_;
};

/// Cuts every triangle into parts² and bends it: x(λ) = Σ λᵢ xᵢ + 4 Σ λᵢ λⱼ bᵢⱼ. Points on edges are computed
/// in one order for the triangles on both sides, so that no ray passes between them.
void cut(Shape& shape, const BulgingEdges& edges, int parts) {
  const Index faces = Index(shape.faces.cols()), each = (parts + 1) * (parts + 2) / 2;
  const Faces old_faces = shape.faces;
  const Matrix3Xf old_normals = shape.corner_normals;
  const bool coloured = shape.point_colours.size() > 0;
  int next = int(shape.points.cols());
  const Matrix3Xf old_points = shape.points, old_colours = shape.point_colours;
  Columns points(shape.points, Eigen::Index(faces) * each);
  Matrix3Xf none(3, 0);
  Columns colours(coloured ? shape.point_colours : none, coloured ? Eigen::Index(faces) * each : 0);
  shape.faces.resize(3, Eigen::Index(faces) * parts * parts);
  shape.corner_normals.resize(3, 3 * shape.faces.cols());
  std::vector<Vector3f> normal(static_cast<std::size_t>(each));
  Index made = 0;
  for (Index f = 0; f < faces; ++f) {
    std::array<std::pair<int, int>, 3> corner;  // index of the point, position in the face; ascending
    for (int k = 0; k < 3; ++k) corner[std::size_t(k)] = {old_faces(k, f), k};
    std::sort(corner.begin(), corner.end());
    std::array<Vector3f, 3> bend;  // of the edges opposite to the sorted corners
    for (std::size_t k = 0; k < 3; ++k)
      bend[k] = edges.at(edge_key(corner[(k + 1) % 3].first, corner[(k + 2) % 3].first)).bulge;
    const auto number = [&](int i, int j) { return j * (parts + 1) - j * (j - 1) / 2 + i; };
    for (int j = 0; j <= parts; ++j)
      for (int i = 0; i + j <= parts; ++i) {
        const std::array<float, 3> lambda = {float(parts - i - j) / float(parts), float(i) / float(parts),
                                             float(j) / float(parts)};
        Vector3f x = Vector3f::Zero(), n = Vector3f::Zero(), colour = Vector3f::Zero();
        for (std::size_t k = 0; k < 3; ++k) {  // in the order of the sorted corners
          const auto [p, at] = corner[k];
          const float weight = lambda[std::size_t(at)];
          if (weight == 0) continue;
          x += weight * old_points.col(p);
          n += weight * old_normals.col(3 * f + at);
          if (coloured) colour += weight * old_colours.col(p);
        }
        for (std::size_t k = 0; k < 3; ++k) {
          const float weight = 4 * lambda[std::size_t(corner[(k + 1) % 3].second)] *
                               lambda[std::size_t(corner[(k + 2) % 3].second)];
          if (weight != 0) x += weight * bend[k];
        }
        points.add(x);
        if (coloured) colours.add(colour);
        normal[std::size_t(number(i, j))] = n.norm() > 1e-6f ? Vector3f(n.normalized()) : n;
      }
    const auto triangle = [&](int a, int b, int c) {
      const std::array<int, 3> ids = {a, b, c};
      for (int k = 0; k < 3; ++k) {
        shape.faces(k, made) = next + ids[std::size_t(k)];
        shape.corner_normals.col(3 * made + k) = normal[std::size_t(ids[std::size_t(k)])];
      }
      ++made;
    };
    for (int j = 0; j < parts; ++j)
      for (int i = 0; i + j < parts; ++i) {
        triangle(number(i, j), number(i + 1, j), number(i, j + 1));
        if (i + j + 1 < parts) triangle(number(i + 1, j), number(i + 1, j + 1), number(i, j + 1));
      }
    next += each;
  }
}

}  // namespace

Vector3f bulge(const Vector3f& a, const Vector3f& b, const Vector3f& na, const Vector3f& nb) {
  const Vector3f e = b - a;
  return 0.125f * (e.dot(nb) * nb - e.dot(na) * na);
}

void round_shapes(std::vector<Shape>& shapes, const Frame& frame, const Normalization& normalization,
                  float pixel) {
  const float seen = 0.2f * pixel;  // less cannot be seen
  std::map<std::size_t, BulgingEdges> curved;
  float reach = 0;
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    if (shapes[s].faces.cols() == 0 || 2 * double(shapes[s].faces.cols()) > most_faces) continue;
    BulgingEdges edges = shared_edges(shapes[s]);
    const float largest = largest_bulge(edges);
    if (!(largest > seen)) continue;
    reach = std::max(reach, largest / share_of_gap);
    curved[s] = std::move(edges);
  }
  if (curved.empty()) return;
  const VectorX free = gaps(frame, double(reach) * normalization.size);
  std::vector<std::vector<float>> gap(frame.bodies.size());
  for (Index i = 0; i < frame.mesh.point_count(); ++i)
    gap[std::size_t(frame.point_body[i])].push_back(
        std::isnan(free[i]) ? std::numeric_limits<float>::infinity() : float(free[i] / normalization.size));
  for (auto& [s, edges] : curved) {
    Shape& shape = shapes[s];
    limit_bulges(edges, shape, gap[std::size_t(shape.body)]);
    const float largest = largest_bulge(edges);
    if (!(largest > seen)) continue;
    int parts = std::clamp(int(std::ceil(std::sqrt(largest / seen))), 2, most_cuts);
    while (parts > 1 && double(shape.faces.cols()) * parts * parts > most_faces) --parts;
    if (parts > 1) cut(shape, edges, parts);
  }
}

void thicken(Shape& shape, bool sheet) {
  const float radius = shape.radius;
  const Index n = Index(shape.points.cols()), faces = Index(shape.faces.cols());
  if (faces == 0 || !(radius > 0)) return;
  // Points that lie on each other, as those of cut triangles do, must move alike.
  const auto before = [&](int a, int b) {
    for (int k = 0; k < 3; ++k)
      if (shape.points(k, a) != shape.points(k, b)) return shape.points(k, a) < shape.points(k, b);
    return false;
  };
  std::map<int, int, decltype(before)> first(before);
  std::vector<int> same(static_cast<std::size_t>(n));
  for (int p : shape.faces.reshaped()) same[std::size_t(p)] = first.try_emplace(p, p).first->second;
  Matrix3Xf normal = Matrix3Xf::Zero(3, n);
  for (Index f = 0; f < faces; ++f) {
    const auto at = [&](int k) -> Vector3f { return shape.points.col(shape.faces(k % 3, f)); };
    const Vector3f own = (at(1) - at(0)).cross(at(2) - at(0)).normalized();
    for (int k = 0; k < 3; ++k) {
      const float angle = std::acos(
          std::clamp((at(k + 1) - at(k)).normalized().dot((at(k + 2) - at(k)).normalized()), -1.0f, 1.0f));
      normal.col(same[std::size_t(shape.faces(k, f))]) += angle * own;
    }
  }
  for (Index p = 0; p < n; ++p)
    if (const float size = normal.col(p).norm(); size > 0) normal.col(p) /= size;
  if (!sheet) {
    Matrix3Xf moved = shape.points;
    for (int p : shape.faces.reshaped())
      moved.col(p) = shape.points.col(p) + radius * normal.col(same[std::size_t(p)]);
    shape.points = std::move(moved);
    return;
  }
  // Points, then those of the one side, then of the other; the edges of the sheet are tubes.
  std::map<std::pair<int, int>, int> count;
  for (Index f = 0; f < faces; ++f)
    for (int k = 0; k < 3; ++k)
      ++count[edge_key(same[std::size_t(shape.faces(k, f))], same[std::size_t(shape.faces((k + 1) % 3, f))])];
  std::vector<std::pair<int, int>> rim;
  for (const auto& [key, times] : count)
    if (times == 1) rim.push_back(key);
  Matrix3Xf points(3, 3 * n);
  points.leftCols(n) = shape.points;
  for (Index p = 0; p < n; ++p) {
    const Vector3f away = radius * normal.col(same[std::size_t(p)]);
    points.col(n + p) = shape.points.col(p) + away;
    points.col(2 * n + p) = shape.points.col(p) - away;
  }
  if (shape.point_colours.size() > 0) shape.point_colours = shape.point_colours.replicate(1, 3).eval();
  Faces both(3, 2 * faces);
  Matrix3Xf corners(3, 6 * faces);
  for (Index f = 0; f < faces; ++f)
    for (int k = 0; k < 3; ++k) {
      both(k, f) = n + shape.faces(k, f);
      both(k, faces + f) = 2 * n + shape.faces(2 - k, f);
      corners.col(3 * f + k) = shape.corner_normals.col(3 * f + k);
      corners.col(3 * (faces + f) + k) = -shape.corner_normals.col(3 * f + 2 - k);
    }
  const Eigen::Index old = shape.segments.cols();
  shape.segments.conservativeResize(2, old + Eigen::Index(rim.size()));
  for (std::size_t i = 0; i < rim.size(); ++i) {
    shape.segments(0, old + Eigen::Index(i)) = rim[i].first;
    shape.segments(1, old + Eigen::Index(i)) = rim[i].second;
  }
  shape.points = std::move(points);
  shape.faces = std::move(both);
  shape.corner_normals = std::move(corners);
}

}  // namespace apart
