#include <apart/bodies/body_rules.hpp>
#include <apart/bodies/contact_defaults.hpp>
#include <apart/geometry/aabb.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace apart {

namespace {

constexpr double dhat_of_size = 2e-3, dhat_of_edge = 0.25, dhat_of_diameter = 0.1;
// [1/s] of the size. What friction holds gives way by a share of this speed times the step. Stacks of bodies
// that cannot deform are held by it alone: a tenth, for up to half as many iterations again
// (docs/performance.md).
constexpr double speed_of_size = 1e-3, speed_of_whole = 1e-4;

/// Length below which a tenth of the edges of the surface's triangles, or of a planar body's segments, fall
/// [m]; 0 if there are none. Meshes are refined where contact is expected, and a mean says little about those
/// places.
double fine_edge(const Body& body) {
  std::vector<double> lengths;
  lengths.reserve(3 * std::size_t(body.surface_faces.cols()));
  for (Index f = 0; f < body.surface_faces.cols(); ++f)
    for (int k = 0; k < 3; ++k)
      lengths.push_back((body.mesh.points.col(body.surface_faces(k, f)) -
                         body.mesh.points.col(body.surface_faces((k + 1) % 3, f)))
                            .norm());
  if (body.planar)
    for (const auto& s : body.free_segments.colwise())
      lengths.push_back((body.mesh.points.col(s[0]) - body.mesh.points.col(s[1])).norm());
  if (lengths.empty()) return 0;
  const auto tenth = lengths.begin() + std::ptrdiff_t(lengths.size() / 10);
  std::nth_element(lengths.begin(), tenth, lengths.end());
  return *tenth;
}

/// Two significant decimal digits of x ≥ 0.
double two_digits(double x) {
  if (!(x > 0)) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - 1);
  return std::round(x / unit) * unit;
}

}  // namespace

ContactDefaults contact_defaults(const Body& body, double scene_size) {
  ContactDefaults result;
  const double diameter = 2 * body.radius;
  double size = 0;
  if (body.mesh.point_count() > 0 && !body.half_space) {
    size = bounding_box(body.mesh.points).diagonal() + diameter;
    if (size == 0) size = scene_size;
  }
  result.tolerance = speed_of_size * size;
  result.epsv = (moves_as_whole(body) ? speed_of_whole : speed_of_size) * size;
  result.dhat = dhat_of_size * size;
  if (const double edge = fine_edge(body); edge > 0) result.dhat = std::min(result.dhat, dhat_of_edge * edge);
  if (diameter > 0) result.dhat = std::min(result.dhat, dhat_of_diameter * diameter);
  // Bodies that are alike but for rounding, such as copies, have the same values.
  for (double* value : {&result.dhat, &result.epsv, &result.tolerance}) *value = two_digits(*value);
  result.thickness = diameter > 0 ? diameter : body.shell ? body.shell->thickness : 0;
  return result;
}

}  // namespace apart
