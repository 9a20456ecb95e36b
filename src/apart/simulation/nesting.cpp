#include <apart/simulation/nesting.hpp>

#include <apart/geometry/aabb.hpp>
#include <apart/geometry/exact_enclosure.hpp>
#include <apart/geometry/exact_intersection.hpp>

#include <map>

namespace apart {

namespace {

/// Whether a point lies to the left of the segment from a to b, all in a plane z = const, on the same height
/// as a part of it: the segment crosses the ray from the point along x.
bool crosses_ray(const Vector3& p, const Vector3& a, const Vector3& b) {
  if ((a[1] > p[1]) == (b[1] > p[1])) return false;
  Vector3 above = a;
  above[2] += std::max(1.0, std::abs(a[2]));
  return (exact::orientation(a, b, p, above) > 0) == (b[1] > a[1]);
}

/// The same for planar bodies: the first of `queries` that lies within the boundary of a connected part of
/// one.
std::optional<Nested> nested_in_plane(const Model& model, const std::vector<char>& present, const Matrix3X& x,
                                      const std::vector<Index>& queries) {
  const CollisionSurface& surface = model.surface;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (!body.planar || !present[b]) continue;
    const std::vector<Index> part = connected_pieces(body.mesh.point_count(), {body.mesh.faces});
    std::map<Index, Edges> boundary;  // by part, in vertices
    Aabb box;
    for (const auto& s : body.free_segments.colwise()) {
      Edges& edges = boundary[part[std::size_t(s[0])]];
      edges.conservativeResize(2, edges.cols() + 1);
      for (int k = 0; k < 2; ++k) {
        edges(k, edges.cols() - 1) = model.vertex_of(int(b), s[k]);
        box.include(Vector3(x.col(edges(k, edges.cols() - 1))));
      }
    }
    for (const Index v : queries) {
      const int other = surface.vertex_body[std::size_t(v)];
      const Vector3 at = x.col(v);
      if (!surface.pairs(other, int(b)).enabled || !box.near({at, at})) continue;
      const Index point = model.surface_point[std::size_t(v)] - model.first_point[b];
      for (const auto& [name, edges] : boundary) {
        if (other == int(b) && part[std::size_t(point)] == name) continue;
        bool inside = false;
        for (const auto& e : edges.colwise()) inside ^= crosses_ray(at, x.col(e[0]), x.col(e[1]));
        if (inside) return Nested{other, int(b), at};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Nested> first_nested(const Model& model, const std::vector<char>& present, const Matrix3X& x) {
  if (model.options.contact.allow_nested) return std::nullopt;
  const CollisionSurface& surface = model.surface;
  const auto body_of = [&](Index v) { return surface.vertex_body[std::size_t(v)]; };
  // A solid is a connected piece of tetrahedra; of a body without any, all that its triangles enclose.
  std::vector<int> solid_of(std::size_t(surface.vertex_count()), -1), body_of_solid;
  std::vector<std::vector<Index>> pieces(model.bodies.size());
  std::map<std::pair<int, Index>, int> number;
  std::vector<exact::Primitive> faces;
  for (Index f = 0; f < surface.faces.cols(); ++f) {
    const int b = body_of(surface.faces(0, f));
    const Body& body = model.bodies[std::size_t(b)];
    if (!present[std::size_t(b)] || !body.encloses_volume) continue;
    auto& own = pieces[std::size_t(b)];
    if (own.empty()) own = connected_pieces(body.mesh.point_count(), {body.mesh.tetrahedra});
    const bool cells = body.mesh.tetrahedra.cols() > 0;
    exact::Primitive face;
    for (int k = 0; k < 3; ++k) {
      const Index v = face.vertices[std::size_t(k)] = surface.faces(k, f);
      const Index point = model.surface_point[std::size_t(v)] - model.first_point[std::size_t(b)];
      const auto [at, fresh] =
          number.try_emplace({b, cells ? own[std::size_t(point)] : -1}, int(number.size()));
      if (fresh) body_of_solid.push_back(b);
      solid_of[std::size_t(v)] = at->second;
    }
    faces.push_back(face);
  }
  std::vector<Index> queries;  // one point of each connected piece of surface is enough: nothing intersects
  std::vector<char> carrier(std::size_t(surface.vertex_count()), false);
  for (const HalfSpace& plane : surface.half_spaces)
    if (plane.carrier >= 0) carrier[std::size_t(plane.carrier)] = true;
  for (Index v = 0; v < surface.vertex_count(); ++v)
    if (surface.vertex_piece[std::size_t(v)] == v && present[std::size_t(body_of(v))] &&
        !carrier[std::size_t(v)])
      queries.push_back(v);
  if (const auto nested = nested_in_plane(model, present, x, queries)) return nested;
  if (faces.empty()) return std::nullopt;
  const auto asked = [&](Index v, int solid) {
    return solid_of[std::size_t(v)] != solid &&
           surface.pairs(body_of(v), body_of_solid[std::size_t(solid)]).enabled;
  };
  const auto found = exact::find_enclosed(x, faces, solid_of, queries, asked);
  if (found.empty()) return std::nullopt;
  return Nested{body_of(found.front().point), body_of_solid[std::size_t(found.front().solid)],
                x.col(found.front().point)};
}

}  // namespace apart
