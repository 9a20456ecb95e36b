#include <apart/geometry/aabb.hpp>
#include <apart/geometry/squared_distance.hpp>
#include <apart/io/stitches.hpp>
#include <apart/scene/attachments.hpp>
#include <apart/scene/prescriber.hpp>
#include <apart/scene/selection.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

namespace {

/// A point of a body's surface, as a mean of at most three of its mesh points.
struct Foot {
  std::array<Index, 3> points = {-1, -1, -1};
  Vector3 weights = Vector3::Zero();
  double distance = std::numeric_limits<double>::infinity();  ///< [m]
};

/// Takes the nearer of `best` and the point of a primitive nearest to x.
void consider(Foot& best, const Vector3& x, const Matrix3X& points, std::span<const int> corners) {
  Aabb box;
  for (const int c : corners) box.include(points.col(c));
  const Vector3 outside = (box.lower - x).cwiseMax(x - box.upper).cwiseMax(0);
  if (!(outside.norm() < best.distance)) return;
  constexpr PairKind kinds[] = {PairKind::point_point, PairKind::point_edge, PairKind::point_triangle};
  StencilPoints stencil;
  stencil[0] = x;
  for (std::size_t k = 0; k < corners.size(); ++k) stencil[k + 1] = points.col(corners[k]);
  const ClosestPoints closest = closest_points(kinds[corners.size() - 1], stencil);
  if (!(closest.r.norm() < best.distance)) return;
  best = {};
  best.distance = closest.r.norm();
  for (std::size_t k = 0; k < corners.size(); ++k) {
    best.points[k] = corners[k];
    best.weights[Index(k)] = -closest.weights[Index(k) + 1];
  }
}

Foot nearest(const Vector3& x, const Body& body, bool on_vertices) {
  Foot best;
  const Matrix3X& points = body.mesh.points;
  if (on_vertices) {
    for (const Index p : body.surface_points) consider(best, x, points, std::array{int(p)});
    return best;
  }
  for (Index f = 0; f < body.surface_faces.cols(); ++f)
    consider(best, x, points, std::span(body.surface_faces.col(f).data(), 3));
  for (Index e = 0; e < body.free_segments.cols(); ++e)
    consider(best, x, points, std::span(body.free_segments.col(e).data(), 2));
  for (Index i = 0; i < body.mesh.vertices.size(); ++i)
    consider(best, x, points, std::array{body.mesh.vertices[i]});
  return best;
}

}  // namespace

std::vector<Attachment> read_attachment(const LocatedJson& v, const std::vector<Body>& bodies, int a, int b,
                                        const PlacedMesh& placed, double reach, const Clock& clock) {
  const Body &first = bodies[std::size_t(a)], &second = bodies[std::size_t(b)];
  if (a == b || (!first.is_dynamic() && !second.is_dynamic()) || second.mesh.point_count() == 0 ||
      first.mesh.point_count() == 0)
    v["bodies"].fail("got '{}' and '{}', must be two bodies with points of which one can move", first.name,
                     second.name);
  std::vector<Index> chosen = select_points(v["where"], placed);
  std::vector<Attachment> result;
  double closest = std::numeric_limits<double>::infinity();
  for (const Index p : chosen) {
    if (!std::binary_search(first.surface_points.begin(), first.surface_points.end(), p)) continue;
    const Foot foot = nearest(first.mesh.points.col(p), second, v["to"].text() == "vertices");
    closest = std::min(closest, foot.distance);
    if (!(foot.distance <= reach)) continue;
    result.push_back({a, p, b, foot.points, foot.weights, v["stiffness"].number(), foot.distance,
                      read_time_range(v, clock)});
  }
  if (!std::isfinite(closest))
    v["where"].fail("chooses no point on the surface of '{}'; attachments hold surfaces", first.name);
  if (result.empty())
    v.fail(
        "attaches nothing: the nearest points of '{}' and '{}' are {:.3g} m apart, max_distance is {:.3g} m; "
        "choose "
        "other points, or raise it",
        first.name, second.name, closest, reach);
  return result;
}

std::vector<Attachment> read_stitches(const LocatedJson& v, const std::vector<Body>& bodies, int a, int b,
                                      double length, bool renumbered, const Clock& clock) {
  const Body &first = bodies[std::size_t(a)], &second = bodies[std::size_t(b)];
  if (!first.is_dynamic() && !second.is_dynamic())
    v["bodies"].fail("got '{}' and '{}', of which none can move", first.name, second.name);
  const LocatedJson source = v["stitches"];
  if (renumbered)
    source.fail(
        "counts points, but the mesh has some that belong to no cell, or coincide with others, and were left "
        "out; remove them");
  std::vector<Stitch> stitches;
  if (source.value().get_if<std::string>()) {
    stitches = source.locate([&] { return read_stitches(std::filesystem::path(source.text())); });
  } else {
    for (const LocatedJson& s : source.items()) {
      if (s.size() != 2 && s.size() != 4) s.fail("has {} numbers, must be [a, b] or [a, b, c, t]", s.size());
      stitches.push_back({s[0].integer(), s[1].integer(), s.size() == 4 ? s[2].integer() : -1,
                          s.size() == 4 ? s[3].number() : 0});
      if (stitches.back().t > 1) s[3].fail("got {}, must lie in [0, 1]", stitches.back().t);
    }
  }
  std::vector<Attachment> result;
  for (std::size_t i = 0; i < stitches.size(); ++i) {
    const Stitch& s = stitches[i];
    const auto check = [&](const Body& body, int p) {
      if (!std::binary_search(body.surface_points.begin(), body.surface_points.end(), Index(p)))
        source.fail("stitch {}: point {} is not on the surface of '{}', which has the points 0 to {}", i, p,
                    body.name, body.mesh.point_count() - 1);
    };
    check(first, s.a);
    check(second, s.b);
    if (s.c >= 0) check(second, s.c);
    if (a == b && (s.a == s.b || s.a == s.c || s.b == s.c))
      source.fail("stitch {}: point {} is sewn to itself", i, s.a == s.b || s.a == s.c ? s.a : s.b);
    Attachment spring{
        a, s.a, b, {s.b, -1, -1}, {1, 0, 0}, v["stiffness"].number(), length, read_time_range(v, clock)};
    if (s.c >= 0) {
      spring.others[1] = s.c;
      spring.weights << 1 - s.t, s.t, 0;
    }
    Vector3 d = first.mesh.points.col(s.a);
    for (int k = 0; k < 2; ++k)
      if (spring.others[std::size_t(k)] >= 0)
        d -= spring.weights[k] * second.mesh.points.col(spring.others[std::size_t(k)]);
    spring.closing = v["closing"].number();
    spring.start_length = d.norm();
    result.push_back(spring);
  }
  return result;
}

}  // namespace apart
