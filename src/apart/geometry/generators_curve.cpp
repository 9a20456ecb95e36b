// Lines of segments.
#include <apart/geometry/generators_parts.hpp>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>
#include <span>

namespace apart::generate {

namespace {

/// Adds a line of points, its segments, and its ends to their groups.
class CurveBuilder {
 public:
  void add(std::span<const Vector3> line, bool closed = false) {
    const int first = int(points_.size()), n = int(line.size());
    points_.insert(points_.end(), line.begin(), line.end());
    for (int i = 0; i + 1 < n; ++i) edges_.push_back({first + i, first + i + 1});
    if (closed) {
      edges_.push_back({first + n - 1, first});
    } else {
      start_.points.push_back(first);
      end_.points.push_back(first + n - 1);
    }
  }
  Mesh mesh() const {
    Mesh mesh;
    mesh.points = Matrix3X::Map(points_.front().data(), 3, Eigen::Index(points_.size()));
    mesh.edges = Edges::Map(edges_.front().data(), 2, Eigen::Index(edges_.size()));
    if (!start_.points.empty()) {
      mesh.groups["start"] = start_;
      mesh.groups["end"] = end_;
    }
    return mesh;
  }

 private:
  std::vector<Vector3> points_;
  std::vector<std::array<int, 2>> edges_;
  MeshGroup start_, end_;
};

}  // namespace

Mesh segments(double length, int cells) {
  require_positive("segments", "length", length);
  require_at_least("segments", "cells", cells, 1);
  require_size("segments", "cells", cells);
  Mesh mesh;
  mesh.points.setZero(3, cells + 1);
  mesh.edges.resize(2, cells);
  for (int i = 0; i <= cells; ++i) mesh.points(0, i) = length * centred(i, cells);
  for (int i = 0; i < cells; ++i) mesh.edges.col(i) << i, i + 1;
  return mesh;
}

Mesh bundle(double length, int cells, const Eigen::Vector2i& counts, double spacing, bool round) {
  require_positive("bundle", "length", length);
  require_positive("bundle", "spacing", spacing);
  require_at_least("bundle", "cells", cells, 1);
  for (int k = 0; k < 2; ++k) require_at_least("bundle", "counts", counts[k], 1);
  require_size("bundle", "counts and cells", double(counts[0]) * counts[1] * cells);
  CurveBuilder curves;
  std::vector<Vector3> line(std::size_t(cells) + 1);
  for (int k = 0; k < counts[1]; ++k)
    for (int i = 0; i < counts[0]; ++i) {
      const double x = i - 0.5 * (counts[0] - 1), z = k - 0.5 * (counts[1] - 1);
      const double u = 2 * x / counts[0], v = 2 * z / counts[1];
      if (round && u * u + v * v > 1) continue;
      for (int j = 0; j <= cells; ++j)
        line[std::size_t(j)] = {spacing * x, length * centred(j, cells), spacing * z};
      curves.add(line);
    }
  return curves.mesh();
}

Mesh helix(double radius, double pitch, int turns, int turn_cells) {
  require_positive("helix", "radius", radius);
  require_positive("helix", "pitch", pitch);
  require_at_least("helix", "turns", turns, 1);
  require_at_least("helix", "turn_cells", turn_cells, 3);
  require_size("helix", "turns and turn_cells", double(turns) * turn_cells);
  const int cells = turns * turn_cells;
  std::vector<Vector3> line;
  for (int i = 0; i <= cells; ++i) {
    const Vector2 p = radius * on_circle(i % turn_cells, turn_cells);
    line.emplace_back(p[0], pitch * turns * centred(i, cells), -p[1]);
  }
  CurveBuilder curves;
  curves.add(line);
  return curves.mesh();
}

Mesh ring(double radius, int cells) {
  require_positive("ring", "radius", radius);
  require_at_least("ring", "cells", cells, 3);
  require_size("ring", "cells", cells);
  std::vector<Vector3> line;
  for (int i = 0; i < cells; ++i) {
    const Vector2 p = radius * on_circle(i, cells);
    line.emplace_back(p[0], 0, -p[1]);
  }
  CurveBuilder curves;
  curves.add(line, true);
  return curves.mesh();
}

Mesh net(double size, int count, int cells, double distance) {
  require_positive("net", "size", size);
  require_positive("net", "distance", distance);
  require_at_least("net", "count", count, 1);
  require_at_least("net", "cells", cells, 2);
  require_size("net", "count and cells", 2.0 * count * cells);
  CurveBuilder curves;
  std::vector<Vector3> line(std::size_t(cells) + 1);
  for (int direction = 0; direction < 2; ++direction)
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j <= cells; ++j) {
        // Crossing k of the line is at (k + 1/2)/count of it, where its height is ± distance/2 by turns:
        // ± sin(π count s).
        const double s = double(j) / cells;
        double wave = std::fmod(s * count, 2.0);  // in half waves
        const double sign = ((i + direction) % 2 == 0 ? 1 : -1) * (wave < 1 ? 1 : -1);
        if (wave >= 1) wave -= 1;
        const double y = sign * 0.5 * distance * cos_sin_degrees(180 * wave)[1];
        const double along = size * centred(j, cells), across = size * ((i + 0.5) / count - 0.5);
        line[std::size_t(j)] = direction == 0 ? Vector3(along, y, across) : Vector3(across, y, along);
      }
      curves.add(line);
    }
  return curves.mesh();
}

Mesh hair(const Mesh& surface, double length, int cells, double root, int every) {
  require_positive("hair", "length", length);
  require_at_least("hair", "cells", cells, 1);
  require_at_least("hair", "every", every, 1);
  if (!(root >= 0) || !std::isfinite(root))
    throw InputError("hair: root: got {}, must not be negative", root);
  const Faces faces = surface.is_volume() ? boundary_faces(surface.tetrahedra) : surface.faces;
  if (faces.cols() == 0) throw InputError("hair: surface: has no triangles, but hair grows on triangles");
  Matrix3X normal = Matrix3X::Zero(3, surface.point_count());
  std::vector<char> used(std::size_t(surface.point_count()), 0);
  for (Index f = 0; f < faces.cols(); ++f) {
    const Vector3 a = surface.points.col(faces(0, f)), b = surface.points.col(faces(1, f)),
                  c = surface.points.col(faces(2, f));
    for (int k = 0; k < 3; ++k) {
      normal.col(faces(k, f)) += (b - a).cross(c - a);
      used[std::size_t(faces(k, f))] = 1;
    }
  }
  require_size("hair", "surface and cells", double(surface.point_count()) / every * cells);
  CurveBuilder curves;
  std::vector<Vector3> line(std::size_t(cells) + 1);
  int skip = 0;
  for (Index v = 0; v < surface.point_count(); ++v) {
    if (!used[std::size_t(v)] || skip++ % every != 0) continue;
    const Vector3 n = normal.col(v).normalized();
    if (n.isZero(0)) continue;  // a fold without a side
    for (int j = 0; j <= cells; ++j)
      line[std::size_t(j)] = surface.points.col(v) + (root + length * j / cells) * n;
    curves.add(line);
  }
  return curves.mesh();
}

}  // namespace apart::generate
