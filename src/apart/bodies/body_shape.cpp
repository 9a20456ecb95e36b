#include <apart/bodies/body_shape.hpp>

#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>

#include <algorithm>

namespace apart {

namespace {

/// The new mesh describes the same body: it stays in its bounding box, except for rounding.
void check_extent(const Body& body, const Mesh& mesh) {
  if (mesh.point_count() == 0 || !mesh.points.allFinite())
    throw InputError("body '{}': its mesh has no points, or some that are not finite", body.name);
  const Aabb old = bounding_box(body.mesh.points), now = bounding_box(mesh.points);
  const double slack = 1e-9 * old.diagonal();
  if (!((now.lower - old.lower).array() >= -slack).all() ||
      !((old.upper - now.upper).array() >= -slack).all())
    throw InputError("body '{}': its mesh extends beyond the body", body.name);
}

void check_sets(const Body& old, const Body& made, const BodySets& sets) {
  const auto check = [&](SetKind kind, Eigen::Index count) {
    const std::vector<NamedSet>&before = old.sets.list(kind), &now = sets.list(kind);
    if (!std::ranges::equal(before, now, {}, &NamedSet::name, &NamedSet::name))
      throw InputError("body '{}': the sets of its mesh differ from those of the scene", old.name);
    for (const NamedSet& set : now)
      if (std::ranges::adjacent_find(set.members, std::greater_equal<>()) != set.members.end() ||
          (!set.members.empty() && (set.members.front() < 0 || set.members.back() >= count)))
        throw InputError(
            "body '{}': the members of its set '{}' are not in ascending order, or not all in its mesh",
            old.name, set.name);
  };
  check(SetKind::points, made.mesh.point_count());
  check(SetKind::segments, made.free_segments.cols());
  check(SetKind::facets, made.surface_faces.cols());
}

void check_substances(const Body& body, const BodyShape& shape) {
  const std::vector<Index>& of_cell = shape.sets.cell_substance;
  const Eigen::Index cells = body.planar ? shape.mesh.faces.cols() : shape.mesh.tetrahedra.cols();
  const Eigen::Index expected = body.sets.cell_substance.empty() ? 0 : cells;
  const std::size_t count = body.planar    ? body.planar->materials.size()
                            : body.elastic ? body.elastic->materials.size()
                                           : 0;
  if (Eigen::Index(of_cell.size()) != expected)
    throw InputError("body '{}': {} of its cells have a material, must be {}", body.name, of_cell.size(),
                     expected);
  for (const Index k : of_cell)
    if (k < 0 || std::size_t(k) >= count)
      throw InputError("body '{}': a cell has material {}, which the body does not have", body.name, k);
}

}  // namespace

BodyShape shape_of(const Body& body) {
  BodyShape shape{body.mesh, body.rest_points, body.sets};
  shape.mesh.groups.clear();
  shape.mesh.cell_data.clear();
  return shape;
}

Body with_shape(const Body& body, BodyShape shape) {
  if (!body.remake)
    throw InputError("body '{}': the mesh of a body of kind {} cannot change", body.name, name_of(body.kind));
  check_extent(body, shape.mesh);
  const Eigen::Index rest_points = body.rest_points.cols() > 0 ? shape.mesh.points.cols() : 0;
  if (shape.rest_points.cols() != rest_points || !shape.rest_points.allFinite())
    throw InputError("body '{}': has a rest shape of {} points, must be {} and finite", body.name,
                     shape.rest_points.cols(), rest_points);
  check_substances(body, shape);
  Body made = body.remake(shape);
  check_sets(body, made, shape.sets);
  if (!VectorX(made.mass.diagonal()).allFinite())
    throw InputError("body '{}': its mass is not finite", body.name);
  made.sets = std::move(shape.sets);
  take_over_settings(body, made);
  made.remake = body.remake;
  made.reshaped = true;
  return made;
}

void take_over_settings(const Body& from, Body& to) {
  to.scripts = from.scripts;
  to.loads = from.loads;
  to.torques = from.torques;
  to.pressures = from.pressures;
  to.winds = from.winds;
  to.damping = from.damping;
  to.vertex_area = from.vertex_area;
  to.presence = from.presence;
}

}  // namespace apart
