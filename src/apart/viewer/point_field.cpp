#include <apart/collision/broad_phase.hpp>
#include <apart/core/error.hpp>
#include <apart/viewer/drawn_surface.hpp>
#include <apart/viewer/point_field.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace apart {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

VectorX norms(const Matrix3X& vectors) {
  return vectors.colwise().norm().transpose();
}

/// The mean of the cells around each point; cells of equal weight. `values`: per tetrahedron, then perhaps
/// per face. Obstacles have none: their zeros would look like a result.
VectorX mean_around(const Frame& frame, const VectorX& values) {
  const Index n = frame.mesh.point_count();
  VectorX sum = VectorX::Zero(n), count = VectorX::Zero(n);
  Index cell = 0;
  const auto add = [&](const auto& cells) {
    for (Index c = 0; c < cells.cols() && cell < values.size(); ++c, ++cell) {
      if (frame.bodies[std::size_t(frame.point_body[cells(0, c)])].kind == "obstacle") continue;
      for (const int p : cells.col(c)) {
        sum[p] += values[cell];
        ++count[p];
      }
    }
  };
  add(frame.mesh.tetrahedra);
  add(frame.mesh.faces);
  return (count.array() > 0).select(sum.array() / count.array(), none);
}

VectorX contact_pressure(const Frame& frame) {
  const DrawnSurface surface = drawn_surface(frame);
  Matrix3X area = Matrix3X::Zero(3, frame.mesh.point_count());  // as vectors
  VectorX size = VectorX::Zero(frame.mesh.point_count());
  for (const auto& face : surface.triangles.colwise()) {
    std::array<int, 3> p;
    for (int k = 0; k < 3; ++k) p[std::size_t(k)] = surface.points[face[k]];
    const Vector3 a = frame.mesh.points.col(p[0]), b = frame.mesh.points.col(p[1]),
                  c = frame.mesh.points.col(p[2]);
    const Vector3 sixth = (b - a).cross(c - a) / 6;
    for (const int v : p) {
      area.col(v) += sixth;
      size[v] += sixth.norm();
    }
  }
  VectorX pressure = VectorX::Constant(frame.mesh.point_count(), none);
  for (Index v = 0; v < pressure.size(); ++v)
    if (const double length = area.col(v).norm(); length > 0)
      pressure[v] = std::abs(frame.contact_force.col(v).dot(area.col(v))) / (length * size[v]);
  return pressure;
}

constexpr FieldKind kinds[] = {
    {"speed", "Speed", "m/s", false, [](const Frame& f) { return f.velocity.size() > 0; }},
    {"stress", "Stress (von Mises)", "Pa", false, [](const Frame& f) { return f.von_mises.size() > 0; }},
    {"strain", "Strain (largest stretch − 1)", "", false, [](const Frame& f) { return f.strain.size() > 0; }},
    {"contact_force", "Contact force", "N", false, [](const Frame& f) { return f.contact_force.size() > 0; }},
    {"contact_pressure", "Contact pressure", "Pa", false,
     [](const Frame& f) { return f.contact_force.size() > 0; }},
    {"gap", "Gap", "m", true, [](const Frame&) { return true; }},
    // Of two frames: where it is wanted, the first is at hand.
    {"displacement", "Displacement", "m", false, [](const Frame&) { return false; }},
};

}  // namespace

std::span<const FieldKind> field_kinds() {
  return kinds;
}

const FieldKind& find_field(std::string_view name) {
  std::string names;
  for (const FieldKind& kind : kinds) {
    if (kind.name == name) return kind;
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  }
  throw InputError("colour by '{}': must be one of {}", name, names);
}

VectorX point_field(const Frame& frame, std::string_view name, double reach, const Matrix3X& start) {
  if (name == "displacement") {
    if (start.cols() == 0 && frame.mesh.points.cols() > 0)
      throw InputError(
          "displacement: is measured from the first frame of a run, which is not given; give it");
    if (start.cols() != frame.mesh.points.cols())
      throw InputError(
          "displacement: the frame at {} s has {} points, the first of the run {}: its mesh has changed; "
          "colour by something else",
          frame.time, frame.mesh.points.cols(), start.cols());
    return norms(frame.mesh.points - start);
  }
  if (!find_field(name).present(frame))
    throw InputError("the frame at {} s holds no {}; colour by something else", frame.time, name);
  if (name == "speed") return norms(frame.velocity);
  if (name == "contact_force") return norms(frame.contact_force);
  if (name == "contact_pressure") return contact_pressure(frame);
  if (name == "stress") return mean_around(frame, frame.von_mises);
  if (name == "strain") return mean_around(frame, frame.strain);
  return gaps(frame, reach);
}

std::optional<std::pair<double, double>> colour_range(std::string_view field, std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return std::pair(find_field(field).logarithmic ? values.front() : 0.0,
                   values[std::min(values.size() - 1, values.size() * 995 / 1000)]);
}

VectorX gaps(const Frame& frame, double reach) {
  ensure(reach > 0, "gaps: a positive reach");
  const DrawnSurface surface = drawn_surface(frame);
  const Index n = Index(surface.points.size());
  std::vector<int> body(static_cast<std::size_t>(n));
  Matrix3X x(3, n);
  for (Index i = 0; i < n; ++i) {
    x.col(i) = frame.mesh.points.col(surface.points[i]);
    body[std::size_t(i)] = frame.point_body[surface.points[i]];
  }
  PairTable pairs(int(frame.bodies.size()));
  for (const auto& [a, b] : frame.ignored_pairs) pairs.set(a, b, {.enabled = false});
  std::vector<char> absent(frame.bodies.size(), false);
  for (const int a : frame.absent) {
    absent[std::size_t(a)] = true;
    pairs.disable(a);
  }
  const CollisionSurface collision(x, surface.triangles, surface.segments, body, pairs, frame.half_spaces);

  std::map<std::pair<int, int>, double> other_thickness;
  for (const PairThickness& t : frame.pair_thickness) other_thickness[{t.a, t.b}] = t.thickness;
  const auto thickness = [&](int a, int b) {
    if (const auto at = other_thickness.find({std::min(a, b), std::max(a, b)}); at != other_thickness.end())
      return at->second;
    return frame.thickness.empty()
               ? 0.0
               : 0.5 * (frame.thickness[std::size_t(a)] + frame.thickness[std::size_t(b)]);
  };
  double thickest = 0;
  for (const double t : frame.thickness) thickest = std::max(thickest, t);
  for (const PairThickness& t : frame.pair_thickness) thickest = std::max(thickest, t.thickness);

  VectorX gap = VectorX::Constant(n, reach);
  for (const Stencil& s : make_bvh(collision)->find(x, reach + thickest)) {
    const ClosestPoints closest = closest_points(s.kind, s.gather(x));
    const int a = body[std::size_t(s.vertices[0])],
              b = body[std::size_t(s.vertices[std::size_t(s.size()) - 1])];
    const double d = closest.r.norm() - thickness(a, b);
    if (a == b && d < 0) continue;  // neighbours in a mesh finer than it is thick, not a contact
    for (int i = 0; i < s.size(); ++i)
      if (closest.vertices >> i & 1) gap[s.vertices[i]] = std::min(gap[s.vertices[i]], d);
  }
  for (const HalfSpace& plane : frame.half_spaces)
    for (Index i = 0; i < n; ++i) {
      const int b = body[std::size_t(i)];
      if (absent[std::size_t(b)] || !pairs(b, plane.body).enabled) continue;
      gap[i] = std::min(gap[i], plane.normal.dot(x.col(i) - plane.origin) - thickness(b, plane.body));
    }
  VectorX result = VectorX::Constant(frame.mesh.point_count(), none);
  for (Index i = 0; i < n; ++i)
    if (gap[i] < reach) result[surface.points[i]] = std::max(0.0, gap[i]);
  return result;
}

std::span<const int> colour_stops() {
  static constexpr int stops[] = {0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c,
                                  0x28ae80, 0x5ec962, 0xaddc30, 0xfde725};
  return stops;
}

}  // namespace apart
