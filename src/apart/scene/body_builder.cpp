#include <apart/bodies/body_mesh.hpp>
#include <apart/bodies/collision_skin.hpp>
#include <apart/bodies/lagrange_volume.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/io/weight_file.hpp>
#include <apart/math/principal_axes.hpp>
#include <apart/scene/body_builder.hpp>
#include <apart/scene/body_names.hpp>
#include <apart/scene/cell_materials.hpp>
#include <apart/scene/describe.hpp>
#include <apart/scene/loads.hpp>
#include <apart/scene/meshes.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/obstacle_motion.hpp>
#include <apart/scene/remeshing.hpp>
#include <apart/scene/shells.hpp>

#include <algorithm>
#include <numbers>

namespace apart {

namespace {

/// Where the points of a body are, and what of its mesh as read is left.
struct Shape {
  Mesh mesh;
  std::optional<Mesh> as_placed = {};  ///< before its points moved, if they did
  bool renumbered = false;             ///< see PlacedMesh

  PlacedMesh placed() const { return {as_placed ? *as_placed : mesh, renumbered}; }
};

// ---- What kinds of bodies need of their meshes ----------------------------------------------------------

Mesh fitted(const VolumeDescription&, Mesh mesh, const MeshPlace& place) {
  return volume_mesh(std::move(mesh), place);
}
Mesh fitted(const PlanarDescription&, Mesh mesh, const MeshPlace& place) {
  return planar_mesh(std::move(mesh), place);
}
Mesh fitted(const ShellDescription&, Mesh mesh, const MeshPlace& place) {
  return shell_mesh(std::move(mesh), place);
}
Mesh fitted(const AffineDescription&, Mesh mesh, const MeshPlace& place) {
  return affine_mesh(std::move(mesh), place);
}
Mesh fitted(const RigidDescription&, Mesh mesh, const MeshPlace& place) {
  return rigid_mesh(std::move(mesh), place);
}
Mesh fitted(const RodDescription&, Mesh mesh, const MeshPlace& place) {
  return rod_mesh(std::move(mesh), place);
}
Mesh fitted(const ParticlesDescription&, Mesh mesh, const MeshPlace& place) {
  return particles_mesh(std::move(mesh), place);
}
Mesh fitted(const ObstacleDescription&, Mesh mesh, const MeshPlace& place) {
  return obstacle_mesh(std::move(mesh), place);
}

template <class D>
MeshRequest request_of(const D& d) {
  MeshRequest request;
  if constexpr (std::same_as<D, VolumeDescription> || std::same_as<D, AffineDescription>)
    request.content = generate::Content::tetrahedra;
  if constexpr (std::same_as<D, ObstacleDescription>) request.keep_points = d.sequence.has_value();
  if constexpr (std::same_as<D, ShellDescription>)
    request.keep_points = d.rest_mesh && !std::holds_alternative<FromTexture>(*d.rest_mesh);
  if constexpr (std::same_as<D, VolumeDescription>) request.keep_points = d.collision && d.collision->weights;
  return request;
}

/// The mesh whose points were moved one by one.
void move_points(Shape& shape, const DynamicBody& d, const MeshPlace& place) {
  const Place moved = d.place["moved_points"];
  if (d.array) moved.fail("applies to one body; write the copies of an array one by one");
  const Mesh there = moved.locate([&] { return read_mesh(*d.moved_points); });
  if (there.point_count() != shape.mesh.point_count())
    moved.fail("has {} points, the body {}; it belongs to another mesh", there.point_count(),
               shape.mesh.point_count());
  shape.as_placed = shape.mesh;
  shape.mesh.points = there.points;
  validate_again(shape.mesh, place);
}

template <class D>
Shape make_shape(const D& d, std::vector<std::string>& notes) {
  const MeshPlace place = mesh_place(d.mesh, fmt::format("body '{}'", d.name));
  MeshResult made = make_mesh(d.mesh, request_of(d));
  const Mesh placed = transformed(made.mesh, d.transform);
  Shape shape{fitted(d, placed, place)};
  shape.renumbered = !made.note.empty() || shape.mesh.point_count() < placed.point_count();
  if (!made.note.empty()) notes.push_back(std::move(made.note));
  if constexpr (std::derived_from<D, DynamicBody>)
    if (d.moved_points) move_points(shape, d, place);
  if constexpr (std::same_as<D, PlanarDescription>) check_planar(shape.mesh, place.cells);
  return shape;
}

// ---- Bodies of each kind --------------------------------------------------------------------------------

/// The volume without its own collision surface.
Body make_solid(const VolumeDescription& d, const std::string& name, Shape shape) {
  if (d.remesh) check_remeshing(d);
  const CellSubstances substances = make_cell_substances(d, shape.placed());
  const int shape_degree = shape.mesh.curved.empty() ? 1 : shape.mesh.curved.front().degree;
  const int degree = d.basis_order.value_or(shape_degree);
  if (degree == 1 && shape_degree == 1) {
    if (d.quadrature_order)
      d.place["quadrature_order"].fail("is for a basis_order above 1; give that too, or leave this out");
    if (d.collision && d.collision->resolution)
      d.collision->place["resolution"].fail("is for a basis_order above 1; give that too, or leave this out");
    const MassKind usual = d.remesh ? MassKind::consistent : MassKind::lumped;
    return make_volume(name, std::move(shape.mesh), substances, d.mass.value_or(usual));
  }
  if (d.mass == MassKind::lumped)
    d.place["mass"].fail(
        "got \"lumped\", which curved tetrahedra, and those of a basis_order above 1, cannot have: some "
        "nodes "
        "would have a negative mass; leave it out");
  if (d.moved_points)
    d.place["moved_points"].fail("moves the points of linear tetrahedra; leave out basis_order, or this");
  LagrangeOptions options{.degree = degree, .quadrature_degree = d.quadrature_order.value_or(0)};
  if (d.collision) options.surface_resolution = d.collision->resolution.value_or(0);
  return make_volume(name, shape.mesh, substances, options);
}

/// The triangles of a collision mesh, and which of its points are left.
struct SkinSurface {
  Mesh mesh;
  Index points_read = 0;
  std::vector<Index> kept;  ///< points as read
};

/// The mesh that a body collides with, `shift` away from where the description puts the body.
template <class D>
SkinSurface skin_surface(const D& d, const MeshPlace& place, const Vector3& shift) {
  const MeshRequest request{.content = generate::Content::surface,
                            .keep_points = d.collision->weights.has_value()};
  Mesh read = transformed(make_mesh(*d.collision->mesh, request).mesh, d.transform);
  read.points.colwise() += shift;
  SkinSurface result{read, read.point_count(), {}};
  Mesh& surface = result.mesh;
  surface = obstacle_mesh(std::move(surface), place);
  if (surface.faces.cols() == 0)
    d.collision->place["mesh"].fail("has no triangles; a collision surface needs some");
  if (surface.edges.cols() > 0 || surface.vertices.size() > 0) {
    surface.edges.resize(2, 0);
    surface.vertices.resize(0);
    surface = remove_unreferenced_points(surface);
  }
  orient_closed_pieces(surface);
  std::vector<char> is_kept(std::size_t(read.point_count()), false);
  for (const int p : read.faces.reshaped()) is_kept[std::size_t(p)] = true;
  for (std::size_t p = 0; p < is_kept.size(); ++p)
    if (is_kept[p]) result.kept.push_back(Index(p));
  return result;
}

/// The volume with a collision mesh that follows it by the weights of a file. `mesh`: of the volume, as read.
CollisionSkin with_given_weights(const VolumeDescription& d, Body body, const SkinSurface& surface,
                                 const Shape& shape) {
  const Place place = d.collision->place["weights"];
  const std::string where = place.message("");
  const WeightFile file = place.locate([&] { return read_weights(*d.collision->weights); });
  if (shape.renumbered)
    place.fail(
        "counts points of a mesh in which some belong to no tetrahedron, or coincide with others, and are "
        "removed; leave the weights out to have them computed");
  const std::vector<Index> nodes =
      nodes_in_order(body, shape.mesh, {file.corners, file.edges, file.faces}, where);
  if (Index(nodes.size()) != file.columns || surface.points_read != file.rows ||
      Index(surface.kept.size()) != surface.mesh.point_count())
    place.fail(
        "has {} rows and {} columns, but the collision mesh has {} points and the body {} nodes; the weights "
        "belong to another mesh, another surface or another basis_order: leave them out to have them "
        "computed",
        file.rows, file.columns, surface.points_read, nodes.size());
  std::vector<std::vector<Influence>> all(std::size_t(file.rows)), rows;
  for (const WeightFile::Entry& e : file.entries)
    if (e.value != 0) all[std::size_t(e.row)].push_back({nodes[std::size_t(e.column)], e.value});
  for (const Index p : surface.kept) {
    std::vector<Influence>& row = rows.emplace_back(std::move(all[std::size_t(p)]));
    std::ranges::sort(row, {}, &Influence::node);
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i].node < 0 || (i > 0 && row[i].node == row[i - 1].node))
        place.fail("has two weights for the same node in row {}, must have one", p);
    if (row.empty()) place.fail("has no weight in row {}, but the collision mesh has a point there", p);
  }
  return with_collision_weights(std::move(body), surface.mesh, rows, where);
}

/// The body with the mesh that it collides with, `shift` away from where the description puts it.
template <class D>
Body with_skin(const D& d, Body body, const Shape& shape, const Vector3& shift,
               std::vector<std::string>& notes) {
  const CollisionDescription& c = *d.collision;
  if (!c.mesh && std::same_as<D, VolumeDescription>) return body;
  if (!c.mesh) c.place.fail("has no mesh; an affine or rigid body has its own surface if this is left out");
  const MeshPlace place = mesh_place(*c.mesh, fmt::format("collision mesh of body '{}'", body.name));
  const SkinSurface surface = skin_surface(d, place, shift);
  CollisionSkin skin;
  if constexpr (std::same_as<D, VolumeDescription>) {
    skin = c.weights ? with_given_weights(d, std::move(body), surface, shape)
                     : with_collision_skin(std::move(body), surface.mesh, place.cells);
  } else {
    if (c.weights)
      c.place["weights"].fail("is for volumes; an affine or rigid body needs none, leave it out");
    skin = with_collision_skin(std::move(body), surface.mesh, place.cells);
  }
  const Vector3 x = surface.mesh.points.col(skin.growth_point);
  if (skin.outside > 0 || (c.weights && skin.growth > 2))
    notes.push_back(fmt::format(
        "{}: {}the point at ({:.4g}, {:.4g}, {:.4g}) m moves up to {:.3g} times as far as the nodes that it "
        "follows",
        place.mesh,
        c.weights ? ""
                  : fmt::format("{} of {} points of the collision mesh lie outside of the tetrahedra and "
                                "follow them from there; ",
                                skin.outside, surface.mesh.point_count()),
        x[0], x[1], x[2], skin.growth));
  return std::move(skin.body);
}

/// Cells that may invert are known to the checks of a run by their number among linear tetrahedra.
void check_invertible(const VolumeDescription& d, const Body& body) {
  const std::size_t invertible = body.elastic->invertible_cells().size();
  if (!body.mesh.curved.empty() && invertible > 0 && invertible < body.elastic->material_of.size())
    d.place["regions"].fail(
        "has materials of which some may invert and some may not, which a body with a basis_order above 1 or "
        "a collision mesh cannot have; use materials of one sort, such as neo_hookean");
}

Body make_body(const VolumeDescription& d, const std::string& name, Shape shape, const Clock&) {
  return d.place.locate([&] { return make_solid(d, name, std::move(shape)); });
}

Body make_body(const PlanarDescription& d, const std::string& name, Shape shape, const Clock&) {
  const CellSubstances substances = make_cell_substances(d, shape.placed());
  const bool may_invert = !prevents_inversion(substances.substances[0].material);
  for (std::size_t k = 1; k < substances.substances.size(); ++k)
    if (prevents_inversion(substances.substances[k].material) == may_invert)
      d.regions[k - 1].place["material"].fail(
          "{} invert, that of the body {}, which a planar body cannot have; use materials of one sort, such "
          "as "
          "neo_hookean",
          may_invert ? "cannot" : "may", may_invert ? "may" : "cannot");
  if (d.remesh) check_remeshing(d);
  const MassKind usual = d.remesh ? MassKind::consistent : MassKind::lumped;
  return d.place.locate([&] {
    return make_planar(name, std::move(shape.mesh), substances, {d.depth, d.plane, d.mass.value_or(usual)});
  });
}

Body make_body(const ShellDescription& d, const std::string& name, Shape shape, const Clock&) {
  if (d.remesh) check_remeshing(d);
  const ShellRest rest = make_shell_rest(d, name, shape.mesh);
  ShellSubstance substance = make_shell_substance(d);
  if (d.remesh) substance.mass = MassKind::consistent;
  return d.place.locate([&] { return make_shell(name, std::move(shape.mesh), substance, rest); });
}

Body make_body(const AffineDescription& d, const std::string& name, Shape shape, const Clock&) {
  return d.place.locate([&] {
    const Substance substance = make_substance(d.material);
    return make_affine(name, std::move(shape.mesh), substance.material, substance.density);
  });
}

/// The inertia tensor as given: its diagonal, or xx, yy, zz, xy, xz, yz.
Matrix3 given_inertia(const RigidDescription& d) {
  const std::vector<double>& v = *d.inertia;
  const Place place = d.place["inertia"];
  if (v.size() != 3 && v.size() != 6)
    place.fail("has {} numbers, must have 3 (xx, yy, zz) or 6 (xx, yy, zz, xy, xz, yz)", v.size());
  Matrix3 inertia = Vector3(v[0], v[1], v[2]).asDiagonal();
  if (v.size() == 6) {
    inertia(0, 1) = inertia(1, 0) = v[3];
    inertia(0, 2) = inertia(2, 0) = v[4];
    inertia(1, 2) = inertia(2, 1) = v[5];
  }
  const Vector3 moments = principal_axes(inertia).values;
  if (!(moments[0] >= 0 && moments[2] > 0))
    place.fail("has the principal moments {}, must have none that is negative and not only zeros",
               short_text(moments));
  if (moments[0] + moments[1] < moments[2] * (1 - 1e-9))
    place.fail(
        "has the principal moments {}; no body has one that is larger than the sum of the other two: check "
        "their order and units (kg m2)",
        short_text(moments));
  return inertia;
}

MassDistribution make_mass(const RigidDescription& d, const Mesh& mesh) {
  MassDistribution mass = mass_distribution(mesh, make_substance(d.material).density);
  if (!(mass.mass > 0))
    d.place["mesh"].fail("gives the body a mass of {} kg, must be positive; close and orient its surface",
                         mass.mass);
  if (d.mass) {
    mass.second_moment *= *d.mass / mass.mass;
    mass.mass = *d.mass;
  }
  if (d.inertia) mass.second_moment = second_moment_of(given_inertia(d));
  if (d.centre) mass.centre = *d.centre;
  return mass;
}

RigidFreedom make_freedom(const RigidDescription& d) {
  RigidFreedom freedom;
  const auto fix = [&](const std::string& axes, std::string_view key, std::array<bool, 3>& free) {
    for (const char c : axes) {
      const std::size_t k = std::string_view("xyz").find(c);
      if (k == std::string_view::npos)
        d.place[key].fail("got \"{}\", must name axes: some of x, y and z", axes);
      free[k] = false;
    }
  };
  fix(d.fixed_translation, "fixed_translation", freedom.translation);
  fix(d.fixed_rotation, "fixed_rotation", freedom.rotation);
  const auto none = [](const std::array<bool, 3>& free) { return !free[0] && !free[1] && !free[2]; };
  if (none(freedom.translation) && none(freedom.rotation))
    d.place["fixed_rotation"].fail(
        "leaves nothing free together with fixed_translation; make the body an obstacle");
  return freedom;
}

Body make_body(const RigidDescription& d, const std::string& name, Shape shape, const Clock&) {
  return d.place.locate([&] {
    const MassDistribution mass = make_mass(d, shape.mesh);
    return make_rigid(name, std::move(shape.mesh), mass, make_freedom(d));
  });
}

Body make_body(const RodDescription& d, const std::string& name, Shape shape, const Clock&) {
  const RodMaterialDescription& m = d.material;
  return d.place.locate([&] {
    return make_rod(name, std::move(shape.mesh),
                    {.density = m.rho,
                     .young = m.E,
                     .radius = m.radius,
                     .stretch_scale = m.stretch_scale,
                     .bending_scale = m.bending_scale},
                    d.rest_curvature);
  });
}

Body make_body(const ParticlesDescription& d, const std::string& name, Shape shape, const Clock&) {
  return d.place.locate([&] { return make_particles(name, std::move(shape.mesh), d.radius, d.rho); });
}

Body make_body(const ObstacleDescription& d, const std::string& name, Shape shape, const Clock& clock) {
  const MeshPlace place = mesh_place(d.mesh, fmt::format("body '{}'", name));
  const Motion motion = obstacle_motion(d, shape.mesh, clock, [&](const std::string& file) {
    return obstacle_mesh(transformed(read_mesh(file), d.transform), place);
  });
  return make_obstacle(name, std::move(shape.mesh), motion);
}

/// How a body that can be pushed begins, what holds it and what acts on it.
void set_dynamics(Body& body, const DynamicBody& d, const PlacedMesh& placed, const Clock& clock) {
  if (body.planar && d.velocity[2] != 0)
    d.place["velocity"].fail("got {}, must be 0 along z: a planar body never leaves its plane",
                             short_text(d.velocity));
  if (body.planar && (d.angular_velocity[0] != 0 || d.angular_velocity[1] != 0))
    d.place["angular_velocity"].fail("got {}, must be about z alone: a planar body never leaves its plane",
                                     short_text(d.angular_velocity));
  set_rigid_velocity(body, d.velocity, d.angular_velocity * (std::numbers::pi / 180));
  ScriptBuilder script_builder(body, placed, clock);
  if (d.motion) script_builder.whole(*d.motion);
  for (const FixedDescription& part : d.fixed) script_builder.part(part);
  for (const LoadDescription& load : d.loads) add_load(body, load, placed, clock);
  body.damping = {d.damping.mass, d.damping.stiffness};
}

/// When a body is present. Its scripts from the start begin when it appears.
void set_presence(Body& body, const BodyBase& d, const Clock& clock) {
  body.presence.from = d.appears;
  if (d.disappears) {
    body.presence.until = *d.disappears;
    if (!(body.presence.until > body.presence.from))
      d.place["disappears"].fail("got {}, must be later than appears ({}); exchange them",
                                 body.presence.until, body.presence.from);
    if (!covers_a_step(body.presence, clock))
      d.place["disappears"].fail(
          "got {}, but no step of {} s ends after {} s and up to then; the body would never be present",
          body.presence.until, clock.dt, body.presence.from);
  }
  for (Script& script : body.scripts) script.when.from = std::max(script.when.from, body.presence.from);
}

/// One of the bodies that a description stands for.
struct Copy {
  std::string name;
  Vector3 shift = Vector3::Zero();  ///< from where the description puts the body [m]
};

template <class D>
BuiltBody build_one(const D& d, const Copy& copy, const Shape& shape, const Clock& clock,
                    std::vector<std::string>& notes) {
  Body body = make_body(d, copy.name, shape, clock);
  BuiltBody built{std::move(body), d.name, {}, d.thickness, {}, {}, shape.renumbered, shape.as_placed};
  if constexpr (requires { d.collision; })
    if (d.collision) built.body = with_skin(d, std::move(built.body), shape, copy.shift, notes);
  if constexpr (std::same_as<D, VolumeDescription>) {
    check_invertible(d, built.body);
    built.remesh = d.remesh;
  }
  if constexpr (std::same_as<D, PlanarDescription> || std::same_as<D, ShellDescription>)
    built.remesh = d.remesh;
  if constexpr (std::derived_from<D, DynamicBody>)
    set_dynamics(built.body, d, built.placed(built.body), clock);
  return built;
}

void check_array(const ArrayDescription& array, const Mesh& mesh) {
  if (const double cells = array.copies() * cell_count(mesh); cells > most_cells)
    array.place["counts"].fail("asks for copies with {:.2g} cells in all, at most {:.2g} are made; use fewer",
                               cells, most_cells);
  for (int k = 0; k < 3; ++k)
    if (array.counts[k] > 1 && array.spacing[k] == 0)
      array.place["spacing"].fail("got {}, which puts {} copies in the same place along {}; give them room",
                                  short_text(array.spacing), array.counts[k], "xyz"[k]);
}

template <class D>
std::vector<BuiltBody> build_all(const D& d, const Clock& clock, std::vector<std::string>& notes) {
  Shape shape = make_shape(d, notes);
  std::vector<BuiltBody> result;
  if (!d.array) {
    result.push_back(build_one(d, {d.name}, shape, clock, notes));
    return result;
  }
  if constexpr (std::same_as<D, ObstacleDescription>)
    if (d.sequence)
      d.place["array"].fail(
          "cannot be combined with a sequence, which says where the one body is; write bodies one by one");
  if constexpr (std::same_as<D, RigidDescription>)
    if (d.centre)
      d.place["array"].fail(
          "cannot be combined with centre, which is the place of one body; write bodies one by one");
  check_array(*d.array, shape.mesh);
  const Matrix3X first = shape.mesh.points;
  for (int z = 0; z < d.array->counts[2]; ++z)
    for (int y = 0; y < d.array->counts[1]; ++y)
      for (int x = 0; x < d.array->counts[0]; ++x) {
        const Vector3 shift = d.array->spacing.cwiseProduct(Vector3(x, y, z));
        shape.mesh.points = first.colwise() + shift;
        result.push_back(build_one(d, {copy_name(d.name, result.size()), shift}, shape, clock, notes));
      }
  return result;
}

std::vector<BuiltBody> build_all(const HalfSpaceDescription& d, const Clock& clock,
                                 std::vector<std::string>&) {
  std::vector<BuiltBody> result;
  result.push_back({make_half_space(d.name, d.origin, make_direction(d.normal, d.place["normal"]),
                                    half_space_motion(d, clock)),
                    d.name,
                    {},
                    d.thickness,
                    {}});
  return result;
}

}  // namespace

double cell_count(const Mesh& mesh) {
  return double(mesh.cell_count()) + double(mesh.faces.cols()) + double(mesh.edges.cols()) +
         double(mesh.vertices.size());
}

FrictionCoefficients make_friction(const FrictionCoefficient& coefficient) {
  if (const double* both = std::get_if<double>(&coefficient)) return {*both, *both};
  const auto& mu = std::get<FrictionDescription>(coefficient);
  if (mu.sliding > mu.sticking)
    mu.place["kinetic"].fail("got {}, must not be more than static ({}); exchange them", mu.sliding,
                             mu.sticking);
  return {mu.sticking, mu.sliding};
}

std::vector<BuiltBody> build_bodies(const BodyDescription& body, const Clock& clock,
                                    std::vector<std::string>& notes) {
  const BodyBase& base = base_of(body);
  std::optional<FrictionCoefficients> friction;
  if (base.friction_coefficient) friction = make_friction(*base.friction_coefficient);
  std::vector<BuiltBody> result = std::visit([&](const auto& d) { return build_all(d, clock, notes); }, body);
  for (BuiltBody& built : result) {
    set_presence(built.body, base, clock);
    built.friction = friction;
  }
  return result;
}

}  // namespace apart
