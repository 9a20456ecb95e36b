// Open surfaces.
#include <apart/geometry/generators_parts.hpp>

#include <algorithm>
#include <cmath>

namespace apart::generate {

Mesh grid(double size_x, double size_z, int cells_x, int cells_z) {
  require_positive("grid", "size_x", size_x);
  require_positive("grid", "size_z", size_z);
  require_at_least("grid", "cells_x", cells_x, 1);
  require_at_least("grid", "cells_z", cells_z, 1);
  require_size("grid", "cells_x and cells_z", 2.0 * cells_x * cells_z);
  Builder builder;
  for (int k = 0; k <= cells_z; ++k)
    for (int i = 0; i <= cells_x; ++i)
      builder.points.push_back({size_x * centred(i, cells_x), 0, size_z * centred(k, cells_z)});
  const auto index = [&](int i, int k) { return k * (cells_x + 1) + i; };
  for (int k = 0; k < cells_z; ++k)
    for (int i = 0; i < cells_x; ++i)  // z then x: the normal is z × x = +y
      builder.quadrilateral(index(i, k), index(i, k + 1), index(i + 1, k + 1), index(i + 1, k),
                            (i + k) % 2 == 0);
  return builder.mesh();
}

Mesh bowl(double radius, double angle, int resolution) {
  require_positive("bowl", "radius", radius);
  if (!(angle > 0 && angle < 180))
    throw InputError("bowl: angle: got {}, must lie between 0 and 180 degrees", angle);
  require_at_least("bowl", "resolution", resolution, 1);
  require_size("bowl", "resolution", 6.0 * resolution * resolution);
  const Disc disc = make_disc(resolution, 6 * resolution);
  Builder builder;
  for (int p = 0; p < disc.point_count(); ++p) {
    const Vector2 polar = cos_sin_degrees(disc.radius[std::size_t(p)] * angle);
    const Vector2 flat = radius * polar[1] * disc.direction[std::size_t(p)];
    builder.points.push_back(
        {flat[0], radius * (1 - polar[0]), -flat[1]});  // −: counter-clockwise from above
  }
  builder.faces = disc.triangles;
  return builder.mesh();
}

Mesh revolution(const std::vector<Vector2>& profile, int resolution) {
  if (profile.size() < 2)
    throw InputError("revolution: profile: got {} points, must be at least 2", profile.size());
  for (const Vector2& p : profile) {
    require_positive("revolution", "profile radius", p[0]);
    if (!std::isfinite(p[1])) throw InputError("revolution: profile height: got {}, must be finite", p[1]);
  }
  for (std::size_t i = 1; i < profile.size(); ++i)
    if (profile[i] == profile[i - 1])
      throw InputError("revolution: profile: points {} and {} are equal", i - 1, i);
  require_at_least("revolution", "resolution", resolution, 3);
  require_size("revolution", "profile and resolution", 2.0 * double(profile.size()) * resolution);
  Builder builder;
  for (const Vector2& p : profile)
    for (int k = 0; k < resolution; ++k) {
      const Vector2 direction = on_circle(k, resolution);
      builder.points.push_back({p[0] * direction[0], p[1], p[0] * direction[1]});
    }
  const auto index = [&](int i, int k) { return i * resolution + k % resolution; };
  for (int i = 0; i + 1 < int(profile.size()); ++i)
    for (int k = 0; k < resolution; ++k)  // up × (x towards z) points away from the axis
      builder.quadrilateral(index(i, k), index(i + 1, k), index(i + 1, k + 1), index(i, k + 1),
                            (i + k) % 2 == 0);
  return builder.mesh();
}

Mesh ribbon(const std::vector<Vector3>& path, double width, int cells, int width_cells) {
  if (path.size() < 2) throw InputError("ribbon: path: got {} points, must be at least 2", path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!path[i].allFinite()) throw InputError("ribbon: path: point {} must be finite", i);
    if (i > 0 && path[i][0] == path[i - 1][0] && path[i][2] == path[i - 1][2])
      throw InputError("ribbon: path: points {} and {} are one above the other", i - 1, i);
  }
  require_positive("ribbon", "width", width);
  require_at_least("ribbon", "cells", cells, 1);
  require_at_least("ribbon", "width_cells", width_cells, 1);
  require_size("ribbon", "cells and width_cells", 2.0 * cells * width_cells);
  // A polyline so fine that its chords are the curve, and the length up to each of its points.
  constexpr int fine = 64;  // chords between two points of the path
  const int spans = int(path.size()) - 1;
  const auto point = [&](int i) { return path[std::size_t(std::clamp(i, 0, spans))]; };
  std::vector<Vector3> line;
  std::vector<double> length{0};
  for (int i = 0; i < spans; ++i)
    for (int j = i == 0 ? 0 : 1; j <= fine; ++j) {
      const double t = double(j) / fine;
      const Vector3 a = point(i), b = point(i + 1), u = 0.5 * (b - point(i - 1)),
                    v = 0.5 * (point(i + 2) - a);
      line.push_back(a + t * (u + t * (3 * (b - a) - 2 * u - v + t * (2 * (a - b) + u + v))));
      if (line.size() > 1) length.push_back(length.back() + (line.back() - line[line.size() - 2]).norm());
    }
  Builder builder;
  std::size_t chord = 0;
  for (int i = 0; i <= cells; ++i) {
    const double s = length.back() * i / cells;
    while (chord + 2 < line.size() && length[chord + 1] < s) ++chord;
    const double t = std::min((s - length[chord]) / (length[chord + 1] - length[chord]), 1.0);
    const Vector3 middle = line[chord] + t * (line[chord + 1] - line[chord]);
    for (int k = 0; k <= width_cells; ++k)
      builder.points.push_back(middle + Vector3(0, width * centred(k, width_cells), 0));
  }
  const auto index = [&](int i, int k) { return i * (width_cells + 1) + k; };
  for (int i = 0; i < cells; ++i)
    for (int k = 0; k < width_cells; ++k)
      builder.quadrilateral(index(i, k), index(i + 1, k), index(i + 1, k + 1), index(i, k + 1),
                            (i + k) % 2 == 0);
  Mesh mesh = builder.mesh();
  for (int k = 0; k <= width_cells; ++k) {
    mesh.groups["start"].points.push_back(index(0, k));
    mesh.groups["end"].points.push_back(index(cells, k));
  }
  return mesh;
}

}  // namespace apart::generate
