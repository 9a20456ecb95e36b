#include <apart/verify/claims.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace apart::verify {

namespace {

constexpr double tolerance = 1e-9;

bool near(double a, double b, double scale = 0) {
  return std::abs(a - b) <= tolerance * std::max({std::abs(a), std::abs(b), scale});
}

template <class A, class B>
bool near_all(const A& a, const B& b, double scale = 0) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (Eigen::Index i = 0; i < a.size(); ++i)
    if (!near(a(i), b(i), scale)) return false;
  return true;
}

template <class A>
bool same(const A& a, const A& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && a == b;
}

std::string name_of(const Frame& frame, int body) {
  return body >= 0 && body < int(frame.bodies.size()) ? frame.bodies[std::size_t(body)].name : "?";
}

}  // namespace

std::optional<std::string> difference_to_scene(const Frame& f, const Frame& s) {
  if (f.bodies.size() != s.bodies.size())
    return fmt::format("has {} bodies, the scene {}", f.bodies.size(), s.bodies.size());
  for (std::size_t b = 0; b < s.bodies.size(); ++b) {
    if (f.bodies[b].name != s.bodies[b].name)
      return fmt::format("calls body {} '{}', the scene '{}'", b, f.bodies[b].name, s.bodies[b].name);
    if (f.bodies[b].kind != s.bodies[b].kind)
      return fmt::format("says that '{}' is of kind {}, the scene says {}", s.bodies[b].name,
                         f.bodies[b].kind, s.bodies[b].kind);
  }
  if (f.mesh.points.cols() != s.mesh.points.cols())
    return fmt::format("has {} points, the scene {}", f.mesh.points.cols(), s.mesh.points.cols());
  if (!same(f.point_body, s.point_body)) return "has points of other bodies than the scene";
  if (!same(f.mesh.tetrahedra, s.mesh.tetrahedra) || !same(f.mesh.faces, s.mesh.faces) ||
      !same(f.mesh.edges, s.mesh.edges) || !same(f.mesh.vertices, s.mesh.vertices) ||
      f.mesh.curved != s.mesh.curved)
    return "has other cells than the scene";
  if (f.invertible_cells != s.invertible_cells)
    return "lets other tetrahedra invert than the materials of the scene do";

  const auto thickness = [](const Frame& frame, std::size_t b) {
    return frame.thickness.empty() ? 0 : frame.thickness[b];
  };
  for (std::size_t b = 0; b < s.bodies.size(); ++b)
    if (!near(thickness(f, b), thickness(s, b)))
      return fmt::format("says that '{}' has a thickness of {} m, the scene says {} m", s.bodies[b].name,
                         thickness(f, b), thickness(s, b));
  if (f.thickness.size() != s.thickness.size() ||
      !std::equal(f.self_reach.begin(), f.self_reach.end(), s.self_reach.begin(), s.self_reach.end(),
                  [](double x, double y) { return near(x, y); }))
    return "says another thickness and contact distance within bodies than the scene";
  if (!std::equal(f.pair_thickness.begin(), f.pair_thickness.end(), s.pair_thickness.begin(),
                  s.pair_thickness.end(), [](const PairThickness& x, const PairThickness& y) {
                    return x.a == y.a && x.b == y.b && near(x.thickness, y.thickness);
                  }))
    return "says another thickness of pairs of bodies than the scene";

  for (std::size_t i = 0; i < std::max(f.strain_limits.size(), s.strain_limits.size()); ++i) {
    if (i >= f.strain_limits.size())
      return fmt::format("has no strain limit of '{}', which the scene has",
                         name_of(s, s.strain_limits[i].body));
    if (i >= s.strain_limits.size())
      return fmt::format("has a strain limit of '{}', which the scene does not have",
                         name_of(f, f.strain_limits[i].body));
    const FrameStrainLimit &x = f.strain_limits[i], &y = s.strain_limits[i];
    if (x.body != y.body || x.woven != y.woven || !near_all(x.limits, y.limits))
      return fmt::format("says that '{}' has the strain limits {}, {}, {}, the scene says {}, {}, {}",
                         name_of(s, y.body), x.limits[0], x.limits[1], x.limits[2], y.limits[0], y.limits[1],
                         y.limits[2]);
  }
  if (!near_all(f.rest_shape, s.rest_shape, s.rest_shape.size() > 0 ? s.rest_shape.cwiseAbs().maxCoeff() : 0))
    return "has triangles of another shape at rest than the scene";

  const double size = s.mesh.points.size() > 0 ? s.mesh.points.cwiseAbs().maxCoeff() : 0;
  if (!std::equal(f.half_spaces.begin(), f.half_spaces.end(), s.half_spaces.begin(), s.half_spaces.end(),
                  [&](const HalfSpace& x, const HalfSpace& y) {
                    return x.body == y.body && x.carrier == y.carrier && near_all(x.origin, y.origin, size) &&
                           near_all(x.normal, y.normal, 1);
                  }))
    return "has other half-spaces than the scene";
  if (f.ignored_pairs != s.ignored_pairs) return "lets other pairs of bodies overlap than the scene";
  if (f.allow_nested != s.allow_nested)
    return fmt::format("{} bodies to lie inside solids, the scene does {}",
                       f.allow_nested ? "allows" : "forbids", s.allow_nested ? "allow it" : "not");
  if (f.time != 0) return fmt::format("is of t = {} s, not the start", f.time);
  for (Eigen::Index i = 0; i < s.mesh.points.cols(); ++i)
    if (!near_all(f.mesh.points.col(i), s.mesh.points.col(i), size))
      return fmt::format("has point {}, of '{}', {:.3g} m from where the scene has it", i,
                         name_of(s, s.point_body[i]), (f.mesh.points.col(i) - s.mesh.points.col(i)).norm());
  return std::nullopt;
}

}  // namespace apart::verify
