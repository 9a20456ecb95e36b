#include <apart/geometry/aabb.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/io/tetgen.hpp>
#include <apart/scene/attachments.hpp>
#include <apart/scene/catalog.hpp>
#include <apart/scene/cell_materials.hpp>
#include <apart/scene/loads.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/obstacle_motion.hpp>
#include <apart/scene/prescriber.hpp>
#include <apart/scene/probes.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/selection.hpp>
#include <apart/scene/validation.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace apart {

namespace {

constexpr double most_cells = 40e6;  // of a scene; some gigabytes before the first step

double cell_count(const Mesh& mesh) {
  return double(mesh.tetrahedra.cols()) + double(mesh.faces.cols()) + double(mesh.edges.cols()) +
         double(mesh.vertices.size());
}

// ---- Meshes -------------------------------------------------------------------------------------

template <class Cells>
Cells read_cells(const LocatedJson& list, Index point_count) {
  Cells cells(Cells::RowsAtCompileTime, Index(list.size()));
  for (Index c = 0; c < cells.cols(); ++c) {
    const LocatedJson item = list[std::size_t(c)];
    for (int k = 0; k < cells.rows(); ++k) {
      cells(k, c) = item[std::size_t(k)].integer();
      if (cells(k, c) >= point_count)
        item[std::size_t(k)].fail("got {}, must be a point, 0 to {}; points are counted from 0", cells(k, c),
                                  point_count - 1);
    }
  }
  return cells;
}

Mesh read_inline_mesh(const LocatedJson& v) {
  Mesh mesh;
  const LocatedJson points = v["points"];
  mesh.points.resize(3, Index(points.size()));
  for (Index p = 0; p < mesh.points.cols(); ++p) mesh.points.col(p) = points[std::size_t(p)].vector();
  mesh.tetrahedra = read_cells<Tetrahedra>(v["tetrahedra"], mesh.point_count());
  mesh.faces = read_cells<Faces>(v["triangles"], mesh.point_count());
  mesh.edges = read_cells<Edges>(v["segments"], mesh.point_count());
  if (mesh.tetrahedra.cols() + mesh.faces.cols() + mesh.edges.cols() == 0)
    mesh.vertices = Eigen::VectorXi::LinSpaced(mesh.point_count(), 0, mesh.point_count() - 1);
  return mesh;
}

Mesh read_body_mesh(const LocatedJson& v, bool solid) {
  const Row& row = row_of(v, catalog().group("mesh"));
  if (row.make_mesh)
    return v.locate(
        [&] { return row.make_mesh(v, solid ? generate::Content::tetrahedra : generate::Content::surface); });
  Mesh mesh =
      v.has("file") ? v["file"].locate([&] { return read_mesh(v["file"].text()); }) : read_inline_mesh(v);
  const LocatedJson fill = v["tetrahedralize"];
  const bool* wanted = fill.value().get_if<bool>();
  if (wanted && !*wanted) return mesh;
  if (mesh.is_volume())
    fill.fail("got {}, but the mesh has tetrahedra already; remove the key", to_short_text(fill.value()));
  TetrahedralizeOptions options;
  if (!wanted) {
    options.radius_edge_ratio = fill["radius_edge_ratio"].number();
    if (fill.has("max_volume")) options.max_volume = fill["max_volume"].number();
  }
  return tetrahedralize(mesh, fill.message("mesh"), options);
}

Mesh placed(const LocatedJson& body, const Mesh& mesh) {
  const LocatedJson transform = body["transform"], scale = transform["scale"];
  const Vector3 factors = scale.value().get_if<double>() ? Vector3::Constant(scale.number()) : scale.vector();
  const Matrix3 linear = read_rotation(transform["rotate"]) * factors.asDiagonal();
  return transformed(mesh, linear, transform["translate"].vector());
}

/// Makes a mesh one of tetrahedra that a volume can be made of, or says why not.
Mesh checked_volume(const LocatedJson& v, const std::string& place, Mesh mesh) {
  if (!mesh.is_volume()) {
    const bool closed = mesh.faces.cols() > 0 && is_closed_surface(mesh);
    v.fail("has no tetrahedra; {}", closed && (v.has("file") || v.has("points"))
                                        ? "fill its surface with \"tetrahedralize\": true"
                                        : "a volume needs some, or make the body an obstacle");
  }
  mesh.faces.resize(3, 0);  // files list boundary triangles too; they follow from the tetrahedra
  mesh.edges.resize(2, 0);
  mesh.vertices.resize(0);
  mesh = remove_unreferenced_points(mesh);
  orient_tetrahedra(mesh);
  validate_volume(mesh, place);
  return mesh;
}

Mesh checked_closed_surface(const LocatedJson& v, const std::string& place, Mesh mesh) {
  mesh.edges.resize(2, 0);
  mesh.vertices.resize(0);
  mesh = remove_unreferenced_points(mesh);
  validate_surface(mesh, place);
  if (!is_closed_surface(mesh))
    v.fail(
        "its triangles do not bound a volume: some edge has not exactly two, facing alike; close and orient "
        "it");
  if (enclosed_volume(mesh) < 0) mesh.faces.row(0).swap(mesh.faces.row(1));
  return mesh;
}

/// Triangles alone; of tetrahedra the boundary.
Mesh checked_sheet(const LocatedJson& v, const std::string& place, Mesh mesh) {
  if (mesh.is_volume()) {
    mesh.faces = boundary_faces(mesh.tetrahedra);
    mesh.face_texture.resize(6, 0);
    mesh.tetrahedra.resize(4, 0);
    mesh.cell_data.clear();
    for (auto& [name, group] : mesh.groups) group.tetrahedra.clear();
  }
  if (mesh.faces.cols() == 0) v.fail("has no triangles; a shell needs some");
  mesh.edges.resize(2, 0);
  mesh.vertices.resize(0);
  mesh = remove_unreferenced_points(mesh);
  validate_surface(mesh, place);
  return mesh;
}

Mesh checked_obstacle(const std::string& place, Mesh mesh) {
  if (mesh.is_volume()) {
    mesh.faces = boundary_faces(mesh.tetrahedra);
    mesh.tetrahedra.resize(4, 0);
    mesh.cell_data.clear();
    for (auto& [name, group] : mesh.groups) group.tetrahedra.clear();
  }
  mesh = remove_unreferenced_points(mesh);
  if (mesh.faces.cols() > 0) validate_surface(mesh, place);
  if (mesh.edges.cols() > 0) validate_segments(mesh, place);
  if (mesh.vertices.size() > 0 || mesh.faces.cols() + mesh.edges.cols() == 0) validate_points(mesh, place);
  return mesh;
}

/// The segments of a mesh, for rods.
Mesh checked_rod(const LocatedJson& v, const std::string& place, Mesh mesh) {
  if (mesh.edges.cols() == 0)
    v.fail(
        "has no segments; a rod needs some: a generator such as bundle, a .seg file, or lines of an OBJ "
        "file");
  mesh.tetrahedra.resize(4, 0);
  mesh.faces.resize(3, 0);
  mesh.vertices.resize(0);
  mesh.cell_data.clear();
  mesh = remove_unreferenced_points(mesh);
  validate_segments(mesh, place);
  return mesh;
}

/// After the points of a good mesh have moved.
void validate_again(const Mesh& mesh, const std::string& place) {
  if (mesh.is_volume())
    validate_volume(mesh, place);
  else if (mesh.faces.cols() > 0)
    validate_surface(mesh, place);
  else if (mesh.edges.cols() > 0)
    validate_segments(mesh, place);
  else
    validate_points(mesh, place);
}

/// The points of a mesh, whatever its cells, for particles.
Mesh checked_particles(const std::string& place, Mesh mesh) {
  mesh.tetrahedra.resize(4, 0);
  mesh.faces.resize(3, 0);
  mesh.edges.resize(2, 0);
  mesh.cell_data.clear();
  mesh.vertices = Eigen::VectorXi::LinSpaced(mesh.point_count(), 0, mesh.point_count() - 1);
  validate_points(mesh, place);
  return mesh;
}

// ---- Bodies -------------------------------------------------------------------------------------

ShellSubstance read_shell_substance(const LocatedJson& body) {
  const LocatedJson m = body["material"];
  ShellSubstance stuff;
  stuff.membrane = row_of(m, catalog().group("shell_material")).make_membrane(m);
  stuff.density = m["rho"].number();
  stuff.thickness = m["thickness"].number();
  const bool isotropic = m.has("E");
  stuff.bending_young = m["bending_scale"].number() * m[isotropic ? "E" : "bending_E"].number();
  stuff.bending_poisson = m[isotropic ? "nu" : "bending_nu"].number();
  if (m["bending_model"].text() == "published") stuff.bending_model = BendingModel::published;
  if (body.has("strain_limit")) {
    const LocatedJson v = body["strain_limit"];
    StretchLimit limit;
    limit.upper = v["upper"].number();
    limit.threshold = v["threshold"].number();
    limit.stiffness = v["stiffness"].number();
    if (!(limit.upper > limit.threshold))
      v["upper"].fail("got {}, must be more than threshold ({})", limit.upper, limit.threshold);
    if (v.has("lower")) {
      limit.lower = v["lower"].number();
      if (!(limit.lower < limit.threshold))
        v["lower"].fail("got {}, must be less than threshold ({})", limit.lower, limit.threshold);
    }
    stuff.limit = limit;
  }
  return stuff;
}

/// The points of the plane that texture coordinates name, one for each point of the mesh.
Matrix3X pattern_of(const LocatedJson& v, const Mesh& mesh) {
  if (mesh.face_texture.cols() != mesh.faces.cols())
    v.fail(
        "got \"texture\", but the mesh has no texture coordinates; use an OBJ file with vt, or another mesh");
  Matrix3X points = Matrix3X::Zero(3, mesh.point_count());
  std::vector<char> known(std::size_t(mesh.point_count()), 0);
  for (Index f = 0; f < mesh.faces.cols(); ++f)
    for (int k = 0; k < 3; ++k) {
      const int p = mesh.faces(k, f);
      const Eigen::Vector2d uv = mesh.face_texture.col(f).segment<2>(2 * k);
      if (known[std::size_t(p)] && points.col(p).head<2>() != uv)
        v.fail(
            "got \"texture\", but point {} has several texture coordinates; cut the mesh open at its seams",
            p);
      points.col(p).head<2>() = uv;
      known[std::size_t(p)] = 1;
    }
  return points;
}

ShellRest read_shell_rest(const LocatedJson& body, const std::string& name, const Mesh& mesh) {
  ShellRest rest;
  rest.flat = body["rest_angles"].text() == "flat";
  const LocatedJson m = body["material"];
  if (m.has("warp")) {
    rest.warp_from_texture = m["warp"].value().get_if<std::string>() != nullptr;
    if (!rest.warp_from_texture) rest.warp = read_direction(m["warp"]);
  }
  if (!body.has("rest_mesh")) return rest;
  const LocatedJson source = body["rest_mesh"];
  if (source.value().get_if<std::string>()) {
    Mesh pattern = mesh;
    pattern.points = pattern_of(source, mesh);
    rest.points = placed(body, pattern).points;
    return rest;
  }
  const std::string place = source.message(fmt::format("body '{}', rest shape", name));
  const Mesh other = checked_sheet(source, place, placed(body, read_body_mesh(source, false)));
  if (other.points.cols() != mesh.points.cols() || other.faces.cols() != mesh.faces.cols() ||
      other.faces != mesh.faces)
    source.fail("has {} points and {} triangles, must have the same triangles as the mesh ({} and {})",
                other.points.cols(), other.faces.cols(), mesh.points.cols(), mesh.faces.cols());
  rest.points = other.points;
  return rest;
}

/// `as_placed`: the mesh before its points moved, if they did; `renumbered` as in PlacedMesh.
Body build_body(const LocatedJson& v, const std::string& name, Mesh mesh,
                const std::optional<Mesh>& as_placed, bool renumbered, const Clock& clock) {
  const std::string& type = v["type"].text();
  if (type == "obstacle") {
    const std::string place = v["mesh"].message(fmt::format("body '{}'", name));
    const Motion motion = read_obstacle_motion(v, mesh, clock, [&](const std::string& file) {
      return checked_obstacle(place, placed(v, read_mesh(file)));
    });
    return make_obstacle(name, std::move(mesh), motion);
  }
  Body body = v.locate([&] {
    if (type == "affine") {
      const Substance stuff = read_substance(v["material"]);
      return make_affine(name, std::move(mesh), stuff.material, stuff.density);
    }
    if (type == "shell") {
      const ShellRest rest = read_shell_rest(v, name, mesh);
      return make_shell(name, std::move(mesh), read_shell_substance(v), rest);
    }
    if (type == "rod") {
      const LocatedJson m = v["material"];
      return make_rod(name, std::move(mesh),
                      {.density = m["rho"].number(),
                       .young = m["E"].number(),
                       .radius = m["radius"].number(),
                       .stretch_scale = m["stretch_scale"].number(),
                       .bending_scale = m["bending_scale"].number()},
                      v["rest_curvature"].text() == "mesh" ? RestCurvature::mesh : RestCurvature::straight);
    }
    if (type == "particles")
      return make_particles(name, std::move(mesh), v["radius"].number(), v["rho"].number());
    const CellSubstances stuff = read_cell_substances(v, {as_placed ? *as_placed : mesh, renumbered});
    return make_volume(name, std::move(mesh), stuff,
                       v["mass"].text() == "lumped" ? MassKind::lumped : MassKind::consistent);
  });
  set_rigid_velocity(body, v["velocity"].vector(), v["angular_velocity"].vector() * (std::numbers::pi / 180));
  const PlacedMesh placed{as_placed ? *as_placed : body.mesh, renumbered};
  Prescriber prescriber(body, placed, clock);
  if (v.has("motion")) prescriber.whole(v["motion"]);
  for (const LocatedJson& part : v["fixed"].items()) prescriber.part(part);
  for (const LocatedJson& load : v["loads"].items()) add_load(body, load, placed, clock);
  body.damping = {v["damping"]["mass"].number(), v["damping"]["stiffness"].number()};
  return body;
}

/// Coefficients of friction.
struct FrictionCoefficients {
  double sticking = 0, sliding = 0;
};

FrictionCoefficients read_friction(const LocatedJson& v) {
  if (v.value().get_if<double>()) return {v.number(), v.number()};
  const FrictionCoefficients mu{v["static"].number(), v["kinetic"].number()};
  if (mu.sliding > mu.sticking)
    v["kinetic"].fail("got {}, must not be more than static ({}); exchange them", mu.sliding, mu.sticking);
  return mu;
}

/// When a body is there. What is scripted for it from the start begins when it appears.
void set_presence(Body& body, const LocatedJson& v, const Clock& clock) {
  body.presence.from = v["appears"].number();
  if (v.has("disappears")) {
    body.presence.until = v["disappears"].number();
    if (!(body.presence.until > body.presence.from))
      v["disappears"].fail("got {}, must be later than appears ({}); exchange them", body.presence.until,
                           body.presence.from);
    if (!covers_a_step(body.presence, clock))
      v["disappears"].fail(
          "got {}, but no step of {} s ends after {} s and not after that; the body would never be there",
          body.presence.until, clock.dt, body.presence.from);
  }
  for (Prescription& p : body.prescriptions) p.when.from = std::max(p.when.from, body.presence.from);
}

/// A body of the model and what the scene says about it.
struct Entry {
  Body body;
  std::string base_name;                         ///< without the number of a copy
  std::optional<FrictionCoefficients> friction;  ///< of its own
  std::optional<Length> thickness;               ///< of its own
  bool renumbered = false;                       ///< its mesh had points of no cell, which were left out
  std::optional<Mesh> as_placed = {};            ///< before its points moved, if they did
};

/// The body, or all its copies.
std::vector<Entry> build_bodies(const LocatedJson& v, const Clock& clock) {
  const std::string& name = v["name"].text();
  const std::optional<FrictionCoefficients> friction =
      v.has("friction_coefficient") ? std::optional(read_friction(v["friction_coefficient"])) : std::nullopt;
  const std::optional<Length> thickness =
      v.has("thickness") ? read_length(v["thickness"].value()) : std::nullopt;
  std::vector<Entry> result;
  if (v["type"].text() == "half_space") {
    const Vector3 origin = v["origin"].vector();
    result.push_back(
        {make_half_space(name, origin, read_direction(v["normal"]), read_half_space_motion(v, origin, clock)),
         name, friction, thickness});
    return result;
  }
  const std::string& type = v["type"].text();
  const LocatedJson source = v["mesh"];
  const std::string place = source.message(fmt::format("body '{}'", name));
  Mesh mesh = placed(v, read_body_mesh(source, type == "volume" || type == "affine"));
  const Index points = mesh.point_count();
  if (type == "obstacle")
    mesh = checked_obstacle(place, std::move(mesh));
  else if (type == "shell")
    mesh = checked_sheet(source, place, std::move(mesh));
  else if (type == "rod")
    mesh = checked_rod(source, place, std::move(mesh));
  else if (type == "particles")
    mesh = checked_particles(place, std::move(mesh));
  else if (type == "affine" && !mesh.is_volume())
    mesh = checked_closed_surface(source, place, std::move(mesh));
  else
    mesh = checked_volume(source, place, std::move(mesh));

  const bool renumbered = mesh.point_count() < points;
  std::optional<Mesh> as_placed;
  if (v.has("moved_points")) {
    const LocatedJson moved = v["moved_points"];
    if (v.has("array")) moved.fail("is of one body; write the copies of an array one by one");
    const Mesh there = moved.locate([&] { return read_mesh(moved.text()); });
    if (there.point_count() != mesh.point_count())
      moved.fail("has {} points, the body {}; it belongs to another mesh", there.point_count(),
                 mesh.point_count());
    as_placed = mesh;
    mesh.points = there.points;
    validate_again(mesh, place);
  }

  if (!v.has("array")) {
    Body body = build_body(v, name, std::move(mesh), as_placed, renumbered, clock);
    result.push_back({std::move(body), name, friction, thickness, renumbered, std::move(as_placed)});
    return result;
  }
  if (v.has("sequence"))
    v["array"].fail(
        "cannot be combined with a sequence, which says where the one body is; write bodies one by one");
  const Eigen::Vector3i counts = v["array"]["counts"].integer_vector();
  const Vector3 spacing = v["array"]["spacing"].vector();
  if (counts.cast<double>().prod() > most_bodies)
    v["array"]["counts"].fail("asks for {} copies, at most {} are made; use fewer",
                              counts.cast<double>().prod(), most_bodies);
  if (const double cells = counts.cast<double>().prod() * cell_count(mesh); cells > most_cells)
    v["array"]["counts"].fail("asks for copies with {:.2g} cells in all, at most {:.2g} are made; use fewer",
                              cells, most_cells);
  for (int k = 0; k < 3; ++k)
    if (counts[k] > 1 && spacing[k] == 0)
      v["array"]["spacing"].fail("got {}, which puts {} copies in the same place along {}; give them room",
                                 to_short_text(v["array"]["spacing"].value()), counts[k], "xyz"[k]);
  for (int z = 0; z < counts[2]; ++z)
    for (int y = 0; y < counts[1]; ++y)
      for (int x = 0; x < counts[0]; ++x) {
        Mesh copy = mesh;
        copy.points.colwise() += spacing.cwiseProduct(Vector3(x, y, z));
        result.push_back(
            {build_body(v, copy_name(name, result.size()), std::move(copy), {}, renumbered, clock), name,
             friction, thickness, renumbered});
      }
  return result;
}

// ---- Contact ------------------------------------------------------------------------------------

/// The diagonal of the box around everything that has points: L of the scene format, Model::size.
double scene_size(const std::vector<Entry>& entries) {
  Aabb box;
  for (const Entry& e : entries)
    if (e.body.mesh.point_count() > 0 && !e.body.half_space) {
      Aabb body = bounding_box(e.body.mesh.points);
      body.lower.array() -= e.body.radius;
      body.upper.array() += e.body.radius;
      box.include(body);
    }
  return box.diagonal();
}

double metres(const LocatedJson& v, double scene_size) {
  return read_length(v.value())->metres(scene_size);
}

std::vector<int> bodies_named(const LocatedJson& name, const std::vector<Entry>& entries) {
  std::vector<int> found;
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    known.push_back(entries[i].base_name);
    if (name.text() == "*" || name.text() == entries[i].base_name || name.text() == entries[i].body.name)
      found.push_back(int(i));
  }
  if (found.empty())  // copies of an array that were written one by one
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (is_copy(entries[i].body.name, name.text())) found.push_back(int(i));
  if (found.empty()) {
    const std::string near = nearest_name(name.text(), known);
    name.fail("got \"{}\", which is no body; {}", name.text(),
              near.empty() ? "use the name of one, or \"*\"" : fmt::format("did you mean \"{}\"?", near));
  }
  return found;
}

PairTable build_pairs(const LocatedJson& contact, const std::vector<Entry>& entries, double size) {
  const FrictionCoefficients general = read_friction(contact["friction_coefficient"]);
  PairSettings everywhere;
  everywhere.dhat = metres(contact["dhat"], size);
  everywhere.thickness = metres(contact["thickness"], size);
  const int n = int(entries.size());
  std::vector<double> thickness;
  for (const Entry& e : entries)
    thickness.push_back(e.thickness         ? e.thickness->metres(size)
                        : e.body.radius > 0 ? 2 * e.body.radius
                                            : everywhere.thickness);
  PairTable table(n, everywhere);
  for (int a = 0; a < n; ++a)
    for (int b = a; b < n; ++b) {
      PairSettings settings = everywhere;
      const FrictionCoefficients mu = entries[a].friction.value_or(general),
                                 nu = entries[b].friction.value_or(general);
      settings.friction = 0.5 * (mu.sticking + nu.sticking);
      settings.kinetic_friction = 0.5 * (mu.sliding + nu.sliding);
      settings.thickness = 0.5 * (thickness[std::size_t(a)] + thickness[std::size_t(b)]);  // C-IPC section 5
      table.set(a, b, settings);
    }
  for (const LocatedJson& pair : contact["pairs"].items()) {
    const auto first = bodies_named(pair["bodies"][0], entries),
               second = bodies_named(pair["bodies"][1], entries);
    for (const int a : first)
      for (const int b : second) {
        PairSettings settings = table(a, b);
        settings.enabled = pair["enabled"].boolean();
        if (pair.has("friction_coefficient")) {
          const FrictionCoefficients mu = read_friction(pair["friction_coefficient"]);
          settings.friction = mu.sticking;
          settings.kinetic_friction = mu.sliding;
        }
        if (pair.has("dhat")) settings.dhat = metres(pair["dhat"], size);
        if (pair.has("thickness")) settings.thickness = metres(pair["thickness"], size);
        table.set(a, b, settings);
      }
  }
  // What cannot be pushed apart is not looked at: obstacles among each other, and a stiff body with itself.
  const auto pushed = [&](int i) { return entries[i].body.is_dynamic(); };
  for (int a = 0; a < n; ++a)
    for (int b = a; b < n; ++b)
      if ((!pushed(a) && !pushed(b)) || (a == b && entries[a].body.kind == BodyKind::affine)) {
        PairSettings settings = table(a, b);
        settings.enabled = false;
        table.set(a, b, settings);
      }
  return table;
}

IntegratorOptions read_integrator(const LocatedJson& time) {
  const std::string& name = time["integrator"].text();
  IntegratorOptions options;
  options.scheme = name == "bdf2"                ? Integrator::bdf2
                   : name == "newmark"           ? Integrator::newmark
                   : name == "generalized_alpha" ? Integrator::generalized_alpha
                   : name == "quasi_static"      ? Integrator::quasi_static
                                                 : Integrator::implicit_euler;
  if (options.scheme != Integrator::newmark)
    for (const char* key : {"beta", "gamma"})
      if (time.has(key))
        time[key].fail("got {}, but the integrator is {}; remove it, or set \"integrator\": \"newmark\"",
                       time[key].number(), name);
  if (time.has("beta")) options.beta = time["beta"].number();
  if (time.has("gamma")) options.gamma = time["gamma"].number();
  if (time.has("spectral_radius")) {
    if (options.scheme != Integrator::generalized_alpha)
      time["spectral_radius"].fail(
          "got {}, but the integrator is {}; remove it, or set \"integrator\": \"generalized_alpha\"",
          time["spectral_radius"].number(), name);
    options.spectral_radius = time["spectral_radius"].number();
  }
  return options;
}

SimulationOptions build_options(const LocatedJson& top, double size) {
  SimulationOptions options;
  options.dt = top["time"]["dt"].number();
  options.max_motion = top["time"]["max_motion"].number();
  options.integrator = read_integrator(top["time"]);
  options.gravity = top["gravity"].vector();
  const LocatedJson contact = top["contact"], solver = top["solver"];
  if (const double* stiffness = contact["barrier_stiffness"].value().get_if<double>())
    options.contact.barrier_stiffness = *stiffness;
  options.contact.epsv = metres(contact["epsv"], size);
  options.contact.friction_iterations = contact["friction_iterations"].integer();
  options.solver.tolerance = metres(solver["tolerance"], size);
  options.solver.termination =
      solver["termination"].text() == "l2_norm" ? Termination::l2_norm : Termination::infinity_norm;
  options.solver.max_iterations = solver["max_iterations"].integer();
  options.solver.slow_iterations = solver["slow_iterations"].integer();
  options.solver.linear_solver = solver["linear_solver"].text();
  options.solver.ordering = solver["ordering"].text();
  options.solver.broad_phase = solver["broad_phase"].text();
  options.solver.ccd = solver["ccd"].text() == "additive" ? CcdMethod::additive : CcdMethod::tight_inclusion;
  const std::string culling = solver["ccd_culling"].text();
  options.solver.ccd_culling = culling == "none"  ? CcdCulling::none
                               : culling == "cfl" ? CcdCulling::cfl
                                                  : CcdCulling::near_first;
  options.solver.candidate_reuse = solver["candidate_reuse"].boolean();
  return options;
}

Index count_steps(const LocatedJson& time) {
  if (time.has("steps")) return time["steps"].integer();
  // Rounding must not add a step to 2 s in steps of 0.01 s.
  const double steps = std::ceil(time["tend"].number() / time["dt"].number() * (1 - 1e-12));
  if (!(steps <= std::numeric_limits<Index>::max()))
    time["dt"].fail("got {}, which makes {:.3g} steps until {}; use larger steps", time["dt"].number(), steps,
                    time["tend"].number());
  return std::max(Index(steps), 1);
}

}  // namespace

Scene build_scene(const SceneFile& file) {
  const LocatedJson top = file.top();
  Scene scene;
  scene.name = file.name;
  scene.steps = count_steps(top["time"]);
  scene.frame_every = top["output"]["every"].integer();
  scene.checkpoint_seconds = top["output"]["checkpoint_seconds"].number();
  if (top["output"].has("checkpoint_steps"))
    scene.checkpoint_steps = top["output"]["checkpoint_steps"].integer();
  for (const LocatedJson& format : top["output"]["formats"].items())
    if (format.text() != "vtu") scene.extra_formats.push_back(format.text());

  const Clock clock{top["time"]["dt"].number(), scene.steps};
  Problems problems;
  std::vector<Entry> entries;
  double cells = 0;
  for (const LocatedJson& body : top["bodies"].items()) {
    try {
      for (Entry& entry : build_bodies(body, clock)) {
        set_presence(entry.body, body, clock);
        cells += cell_count(entry.body.mesh);
        entries.push_back(std::move(entry));
      }
    } catch (const InputError& e) {
      problems.add(e.what());
    }
    // At once, not when the memory is full.
    if (entries.size() > most_bodies)
      top["bodies"].fail("has {} bodies or more, at most {} are allowed; join some", entries.size(),
                         most_bodies);
    if (cells > most_cells)
      top["bodies"].fail(
          "has {:.2g} cells or more in all meshes, at most {:.2g} are read; use coarser meshes", cells,
          most_cells);
  }
  problems.throw_if_any();
  if (std::none_of(entries.begin(), entries.end(), [](const Entry& e) { return e.body.is_dynamic(); }))
    top["bodies"].fail(
        "has nothing that can move; add a body of type volume, shell, affine, rod or particles");

  const double size = scene_size(entries);
  if (!(size >= 1e-9 && size <= 1e9))
    top["bodies"].fail("are {:.3g} m across, must be between 1e-9 and 1e9; lengths are in metres", size);
  PairTable pairs = build_pairs(top["contact"], entries, size);
  std::vector<std::array<std::vector<int>, 2>> attached;  // names are found while entries have them
  for (const LocatedJson& v : top["attachments"].items())
    attached.push_back({bodies_named(v["bodies"][0], entries), bodies_named(v["bodies"][1], entries)});
  std::vector<std::array<std::vector<int>, 2>> probed;
  for (const LocatedJson& v : top["probes"].items())
    probed.push_back(v.has("bodies") ? std::array{bodies_named(v["bodies"][0], entries),
                                                  bodies_named(v["bodies"][1], entries)}
                                     : std::array{bodies_named(v["body"], entries), std::vector<int>()});
  std::vector<Body> bodies;
  for (Entry& entry : entries) bodies.push_back(std::move(entry.body));
  const auto placed = [&](const std::vector<Body>& at, int b) {
    const Entry& entry = entries[std::size_t(b)];
    return PlacedMesh{entry.as_placed ? *entry.as_placed : at[std::size_t(b)].mesh, entry.renumbered};
  };
  std::vector<Attachment> attachments;
  for (std::size_t i = 0; i < attached.size(); ++i) {
    const LocatedJson v = top["attachments"][i];
    if (v.has("stitches")) {
      const bool of_one = v["bodies"][0].text() == v["bodies"][1].text();
      for (const int a : attached[i][0])
        for (const int b : attached[i][1]) {
          if (of_one && a != b) continue;  // each copy with itself
          const bool renumbered = entries[std::size_t(a)].renumbered || entries[std::size_t(b)].renumbered;
          for (const Attachment& spring :
               read_stitches(v, bodies, a, b, metres(v["length"], size), renumbered, clock))
            attachments.push_back(spring);
        }
      continue;
    }
    for (const int a : attached[i][0])
      for (const int b : attached[i][1])
        for (const Attachment& spring :
             read_attachment(v, bodies, a, b, placed(bodies, a), metres(v["max_distance"], size), clock))
          attachments.push_back(spring);
  }
  scene.model = std::make_shared<const Model>(std::move(bodies), std::move(pairs), build_options(top, size),
                                              std::move(attachments));
  for (std::size_t i = 0; i < probed.size(); ++i) {
    const LocatedJson v = top["probes"][i];
    std::vector<PlacedMesh> meshes;
    for (const int b : probed[i][0]) meshes.push_back(placed(scene.model->bodies, b));
    scene.probes.push_back(
        read_probe(v, *scene.model, std::move(probed[i][0]), std::move(probed[i][1]), meshes));
    for (std::size_t k = 0; k < i; ++k)
      if (scene.probes[k].name == scene.probes[i].name)
        v["name"].fail("got \"{}\", which another probe has already; give each its own",
                       scene.probes[i].name);
  }
  ensure(scene.model->size == size, "build_scene: L of the scene format is Model::size");
  return scene;
}

std::string copy_name(const std::string& array, std::size_t number) {
  return fmt::format("{}.{}", array, number);
}

bool is_copy(const std::string& name, const std::string& array) {
  const std::size_t start = array.size() + 1;
  return name.starts_with(array + ".") && name.size() > start &&
         name.find_first_not_of("0123456789", start) == name.npos;
}

}  // namespace apart
