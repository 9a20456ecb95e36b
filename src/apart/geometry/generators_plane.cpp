// Triangles in the plane z = 0, for planar bodies. Counter-clockwise seen from +z.
#include <apart/geometry/generators_parts.hpp>
#include <apart/geometry/plane_triangulation.hpp>

#include <algorithm>
#include <cmath>

namespace apart::generate {

namespace {

double cross(const Vector2& a, const Vector2& b) {
  return a[0] * b[1] - a[1] * b[0];
}

/// Points of a quadrilateral in rows, and the triangles between them.
template <class Place>
Mesh quadrilateral_mesh(const Eigen::Vector2i& cells, const Place& place) {
  Builder builder;
  for (int k = 0; k <= cells[1]; ++k)
    for (int i = 0; i <= cells[0]; ++i) {
      const Vector2 x = place(i, k);
      builder.points.push_back({x[0], x[1], 0});
    }
  const auto index = [&](int i, int k) { return k * (cells[0] + 1) + i; };
  for (int k = 0; k < cells[1]; ++k)
    for (int i = 0; i < cells[0]; ++i)
      builder.quadrilateral(index(i, k), index(i + 1, k), index(i + 1, k + 1), index(i, k + 1),
                            (i + k) % 2 == 0);
  return builder.mesh();
}

void require_cells(const char* generator, const Eigen::Vector2i& cells) {
  require_at_least(generator, "cells", cells.minCoeff(), 1);
  require_size(generator, "cells", 2.0 * cells[0] * cells[1]);
}

/// The sides of a polygon, cut into equal parts no longer than `edge`.
PlaneLoop cut_loop(const PlaneLoop& corners, double edge) {
  PlaneLoop loop;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Vector2 a = corners[i], b = corners[(i + 1) % corners.size()];
    const double parts = std::max(1.0, std::ceil((b - a).norm() / edge * (1 - 1e-9)));
    for (double k = 0; k < parts; ++k) loop.push_back(a + k / parts * (b - a));
  }
  return loop;
}

double area_of(const PlaneLoop& loop) {
  double twice = 0;
  for (std::size_t i = 0; i < loop.size(); ++i)
    twice += cross(loop[i] - loop[0], loop[(i + 1) % loop.size()] - loop[0]);
  return 0.5 * twice;
}

double distance_to(const Vector2& p, const PlaneLoop& loop) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < loop.size(); ++i) {
    const Vector2 a = loop[i], d = loop[(i + 1) % loop.size()] - a;
    const double t = std::clamp((p - a).dot(d) / d.squaredNorm(), 0.0, 1.0);
    least = std::min(least, (p - a - t * d).norm());
  }
  return least;
}

/// Points of equilateral triangles, those within loops that are not too near to them.
std::vector<Vector2> inner_points(const char* generator, const std::vector<PlaneLoop>& loops, double edge) {
  Vector2 low = loops[0][0], high = low;
  for (const Vector2& p : loops[0]) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const double height = edge * std::sqrt(0.75);
  require_size(generator, "edge", 2 * (high - low).prod() / (edge * height));
  std::vector<Vector2> inner;
  const int rows = int((high[1] - low[1]) / height), columns = int((high[0] - low[0]) / edge) + 1;
  const Vector2 middle = 0.5 * (low + high);
  for (int k = -rows / 2 - 1; k <= rows / 2 + 1; ++k)
    for (int i = -columns / 2 - 1; i <= columns / 2 + 1; ++i) {
      const Vector2 p = middle + Vector2(edge * (i + (k % 2 != 0 ? 0.5 : 0.0)), height * k);
      if (!is_inside(p, loops)) continue;
      const auto is_near = [&](const PlaneLoop& loop) { return distance_to(p, loop) < 0.6 * edge; };
      if (std::ranges::none_of(loops, is_near)) inner.push_back(p);
    }
  return inner;
}

}  // namespace

Mesh rectangle(const Vector2& size, const Eigen::Vector2i& cells) {
  require_positive("rectangle", "size", size.minCoeff());
  require_cells("rectangle", cells);
  return quadrilateral_mesh(cells, [&](int i, int k) {
    return Vector2(size[0] * centred(i, cells[0]), size[1] * centred(k, cells[1]));
  });
}

Mesh quadrilateral(const std::array<Vector2, 4>& corners, const Eigen::Vector2i& cells) {
  require_cells("quadrilateral", cells);
  for (std::size_t i = 0; i < 4; ++i) {
    const Vector2 before = corners[i] - corners[(i + 3) % 4], after = corners[(i + 1) % 4] - corners[i];
    if (!(cross(before, after) > 1e-9 * before.norm() * after.norm()))
      throw InputError(
          "quadrilateral: corners: the angle at ({}, {}) is not between 0 and 180 degrees; give four corners "
          "of a convex shape, counter-clockwise",
          corners[i][0], corners[i][1]);
  }
  return quadrilateral_mesh(cells, [&](int i, int k) -> Vector2 {
    const double u = double(i) / cells[0], v = double(k) / cells[1];
    return (1 - v) * ((1 - u) * corners[0] + u * corners[1]) + v * ((1 - u) * corners[3] + u * corners[2]);
  });
}

Mesh disc(double radius, int resolution) {
  require_positive("disc", "radius", radius);
  require_at_least("disc", "resolution", resolution, 1);
  require_size("disc", "resolution", 6.0 * resolution * resolution);
  const Disc disc = make_disc(resolution, 6 * resolution);
  Builder builder;
  for (int p = 0; p < disc.point_count(); ++p) {
    const Vector2 x = radius * disc.point(p);
    builder.points.push_back({x[0], x[1], 0});
  }
  builder.faces = disc.triangles;
  return builder.mesh();
}

PlaneTriangulation triangulate_polygon(const char* generator, const PlaneLoop& corners,
                                       const std::vector<PlaneLoop>& holes, double edge) {
  std::vector<PlaneLoop> loops = {corners};
  loops.insert(loops.end(), holes.begin(), holes.end());
  for (std::size_t i = 0; i < loops.size(); ++i) {
    PlaneLoop& loop = loops[i];
    const std::string which = i == 0 ? "points" : fmt::format("hole {}", i - 1);
    if (loop.size() < 3)
      throw InputError("{}: {}: has {} corners, must have at least 3", generator, which, loop.size());
    for (std::size_t k = 0; k < loop.size(); ++k)
      if (!loop[k].allFinite() || loop[k] == loop[(k + 1) % loop.size()])
        throw InputError("{}: {}: corner {} is not finite, or the same as the next; leave it out", generator,
                         which, k);
    if (area_of(loop) == 0)
      throw InputError(
          "{}: {}: encloses no area: its corners are on one line, or its sides cross; move one of them",
          generator, which);
    if ((area_of(loop) > 0) != (i == 0)) std::ranges::reverse(loop);  // the inside is on the left
    if (edge == 0) continue;
    double length = 0;
    for (std::size_t k = 0; k < loop.size(); ++k) length += (loop[(k + 1) % loop.size()] - loop[k]).norm();
    require_size(generator, "edge", length / edge);
    loop = cut_loop(loop, edge);
  }
  std::vector<Vector2> inner;
  if (edge > 0) inner = inner_points(generator, loops, edge);
  return triangulate(std::move(loops), std::move(inner));
}

Mesh polygon(const PlaneLoop& corners, const std::vector<PlaneLoop>& holes, double edge) {
  require_positive("polygon", "edge", edge);
  const PlaneTriangulation made = triangulate_polygon("polygon", corners, holes, edge);
  Builder builder;
  for (const Vector2& p : made.points) builder.points.push_back({p[0], p[1], 0});
  builder.faces = made.triangles;
  return builder.mesh();
}

}  // namespace apart::generate
