#include <apart/geometry/generators_parts.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace apart::generate {

namespace {

constexpr double most_cells = 20e6;

/// (cos x, sin x) for 0 ≤ x ≤ π/4 by their power series; the C library's differ between machines in the last
/// bit.
Vector2 cos_sin(double x) {
  double c = 1, s = 1;
  for (int n = 18; n >= 2; n -= 2) {
    c = 1 - x * x / (n * (n - 1)) * c;
    s = 1 - x * x / (n * (n + 1)) * s;
  }
  return {c, x * s};
}

}  // namespace

void require_positive(const char* generator, const char* parameter, double value) {
  if (!(value > 0) || !std::isfinite(value))
    throw InputError("{}: {}: got {}, must be a positive finite number", generator, parameter, value);
}

void require_at_least(const char* generator, const char* parameter, int value, int least) {
  if (value < least)
    throw InputError("{}: {}: got {}, must be at least {}", generator, parameter, value, least);
}

void require_size(const char* generator, const char* parameters, double count) {
  if (count > most_cells)
    throw InputError("{}: {} give {:.3g} cells or points, at most {:.3g} are allowed; choose a coarser mesh",
                     generator, parameters, count, most_cells);
}

double centred(int i, int n) {
  return (i - 0.5 * n) / n;
}

void Builder::tetrahedron(int a, int b, int c, int d) {
  const bool positive = signed_volume6(points[std::size_t(a)], points[std::size_t(b)], points[std::size_t(c)],
                                       points[std::size_t(d)]) > 0;
  tetrahedra.push_back(positive ? std::array{a, b, c, d} : std::array{a, b, d, c});
}

void Builder::quadrilateral(int a, int b, int c, int d, bool cut_ac) {
  triangle(a, b, cut_ac ? c : d);
  cut_ac ? triangle(a, c, d) : triangle(b, c, d);
}

Mesh Builder::mesh() const {
  Mesh mesh;
  mesh.points =
      Matrix3X::Map(points.empty() ? nullptr : points.front().data(), 3, Eigen::Index(points.size()));
  mesh.tetrahedra = Tetrahedra::Map(tetrahedra.empty() ? nullptr : tetrahedra.front().data(), 4,
                                    Eigen::Index(tetrahedra.size()));
  mesh.faces = Faces::Map(faces.empty() ? nullptr : faces.front().data(), 3, Eigen::Index(faces.size()));
  return mesh;
}

// Reduced to the first octant in integers.
Vector2 on_circle(std::int64_t k, std::int64_t n) {
  const std::int64_t octant = 8 * k / n % 8;
  std::int64_t rest = 8 * k % n;  // in units of an n-th of an octant
  if (octant % 2 == 1) rest = n - rest;
  Vector2 p = rest == n ? Vector2::Constant(std::sqrt(0.5)).eval()
                        : cos_sin(std::numbers::pi / 4 * (double(rest) / double(n)));
  if (octant % 4 == 1 || octant % 4 == 2) std::swap(p[0], p[1]);
  if (octant >= 2 && octant <= 5) p[0] = -p[0];
  if (octant >= 4) p[1] = -p[1];
  return p;
}

Vector2 cos_sin_degrees(double degrees) {
  if (degrees > 90) {
    const Vector2 p = cos_sin_degrees(180 - degrees);
    return {-p[0], p[1]};
  }
  if (degrees > 45) return cos_sin_degrees(90 - degrees).reverse();
  return cos_sin(degrees * (std::numbers::pi / 180));
}

Disc make_disc(int rings, int rim_count) {
  Disc disc;
  disc.radius = {0};
  disc.direction = {Vector2::UnitX()};
  int inner_begin = 0, inner_count = 1;
  for (int ring = 1; ring <= rings; ++ring) {
    const int begin = disc.point_count();
    const int count =
        int(std::max<std::int64_t>(3, (2 * std::int64_t(rim_count) * ring + rings) / (2 * rings)));
    for (int k = 0; k < count; ++k) {
      disc.radius.push_back(double(ring) / rings);
      disc.direction.push_back(on_circle(k, count));
    }
    // Zip the two rings together: continue along the ring whose next edge has its middle at the smaller
    // angle.
    const auto inner = [&](int i) { return inner_begin + i % inner_count; };
    const auto outer = [&](int j) { return begin + j % count; };
    const int inner_edges = inner_count == 1 ? 0 : inner_count;
    for (int i = 0, j = 0; i < inner_edges || j < count;) {
      const bool along_outer = i == inner_edges || (j < count && std::int64_t(2 * j + 1) * inner_count <=
                                                                     std::int64_t(2 * i + 1) * count);
      if (along_outer)
        disc.triangles.push_back({inner(i), outer(j), outer(j + 1)}), ++j;
      else
        disc.triangles.push_back({inner(i), outer(j), inner(i + 1)}), ++i;
    }
    inner_begin = begin;
    inner_count = count;
  }
  disc.rim_begin = inner_begin;
  disc.rim_count = inner_count;
  return disc;
}

}  // namespace apart::generate
