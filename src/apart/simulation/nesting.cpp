#include <apart/simulation/nesting.hpp>

#include <apart/geometry/exact_enclosure.hpp>

#include <map>

namespace apart {

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
  if (faces.empty()) return std::nullopt;
  std::vector<Index> queries;  // one point of each connected piece of surface is enough: nothing intersects
  std::vector<char> carrier(std::size_t(surface.vertex_count()), false);
  for (const HalfSpace& plane : surface.half_spaces)
    if (plane.carrier >= 0) carrier[std::size_t(plane.carrier)] = true;
  for (Index v = 0; v < surface.vertex_count(); ++v)
    if (surface.vertex_piece[std::size_t(v)] == v && present[std::size_t(body_of(v))] &&
        !carrier[std::size_t(v)])
      queries.push_back(v);
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
