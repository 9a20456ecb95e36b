#pragma once
// Shared by the mesh generators: checked arguments, collecting cells, circles.
#include <apart/core/error.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/plane_triangulation.hpp>

#include <array>
#include <cstdint>

namespace apart::generate {

using Vector2 = Eigen::Vector2d;

// Throw InputError that names generator, parameter, value and rule.
void require_positive(const char* generator, const char* parameter, double value);
void require_at_least(const char* generator, const char* parameter, int value, int least);
/// `count` is a double because products of the arguments may not fit an integer.
void require_size(const char* generator, const char* parameters, double count);

/// i / n − 1/2, exactly symmetric: centred(n − i, n) = −centred(i, n).
double centred(int i, int n);

/// Collects points, tetrahedra and triangles.
struct Builder {
  std::vector<Vector3> points;
  std::vector<std::array<int, 4>> tetrahedra;
  std::vector<std::array<int, 3>> faces;

  /// A tetrahedron in either orientation.
  void tetrahedron(int a, int b, int c, int d);
  void triangle(int a, int b, int c) { faces.push_back({a, b, c}); }
  /// Quadrilateral a b c d (counter-clockwise from outside), cut along a–c or b–d.
  void quadrilateral(int a, int b, int c, int d, bool cut_ac);
  Mesh mesh() const;
};

/// Point k of n on the unit circle, exactly symmetric and the same on every machine.
Vector2 on_circle(std::int64_t k, std::int64_t n);
/// (cos, sin) of 0 ≤ degrees ≤ 180, the same on every machine.
Vector2 cos_sin_degrees(double degrees);

/// The unit disc cut into rings of nearly equilateral triangles around its centre, point 0.
struct Disc {
  std::vector<double> radius;                 ///< of each point, in [0, 1]
  std::vector<Vector2> direction;             ///< of each point, unit
  std::vector<std::array<int, 3>> triangles;  ///< counter-clockwise
  int rim_begin = 0, rim_count = 0;           ///< the points on the rim, counter-clockwise

  int point_count() const { return int(radius.size()); }
  Vector2 point(int p) const { return radius[std::size_t(p)] * direction[std::size_t(p)]; }
  int rim(int i) const { return rim_begin + i % rim_count; }
};
Disc make_disc(int rings, int rim_count);

/// The triangles of a polygon with holes. `edge` as for `polygon`; 0: sides are not cut, and there are no
/// points inside.
PlaneTriangulation triangulate_polygon(const char* generator, const PlaneLoop& corners,
                                       const std::vector<PlaneLoop>& holes, double edge);

}  // namespace apart::generate
