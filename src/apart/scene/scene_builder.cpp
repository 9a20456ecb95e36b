#include <apart/geometry/aabb.hpp>
#include <apart/geometry/mesh_checks.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/io/tetgen.hpp>
#include <apart/scene/attachments.hpp>
#include <apart/scene/body_names.hpp>
#include <apart/scene/catalog.hpp>
#include <apart/scene/cell_materials.hpp>
#include <apart/scene/contact_defaults.hpp>
#include <apart/scene/loads.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/obstacle_motion.hpp>
#include <apart/scene/prescriber.hpp>
#include <apart/scene/probes.hpp>
#include <apart/scene/scene_builder.hpp>
#include <apart/scene/selection.hpp>
#include <apart/scene/validation.hpp>
#include <apart/scene/welding.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <unordered_map>

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

/// `keep_points`: other meshes must have the same points, so that none may be joined.
Mesh read_body_mesh(const LocatedJson& v, bool solid, bool keep_points, std::vector<std::string>& notes) {
  const Row& row = row_of(v, catalog().group("mesh"));
  if (row.make_mesh)
    return v.locate(
        [&] { return row.make_mesh(v, solid ? generate::Content::tetrahedra : generate::Content::surface); });
  Mesh mesh =
      v.has("file") ? v["file"].locate([&] { return read_mesh(v["file"].text()); }) : read_inline_mesh(v);
  if (v.has("file") && !keep_points)
    if (const Index joined = weld_as_told(v, mesh); joined > 0)
      notes.push_back(
          v["file"].message(fmt::format("{} nearer to others than {:g} of the mesh's diagonal: joined with "
                                        "them, {} left; \"weld\": 0 keeps "
                                        "them apart",
                                        joined == 1 ? "1 point is" : fmt::format("{} points are", joined),
                                        v["weld"].number(), mesh.point_count())));
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
    const bool fillable = v.has("tetrahedralize");  // what generators make is not filled
    if (!fillable || mesh.faces.cols() == 0)
      v.fail("has no tetrahedra; a volume needs some, or make the body an obstacle{}",
             mesh.faces.cols() > 0 ? " or a shell" : "");
    if (const auto open = find_open_edge(mesh))
      v.fail(
          "has no tetrahedra; \"tetrahedralize\": true fills a closed surface, but this one is open or "
          "turned "
          "at the edge of points {} and {}, ({:g}, {:g}, {:g}) m: close it, or make the body a shell or an "
          "obstacle",
          open->a, open->b, mesh.points(0, open->a), mesh.points(1, open->a), mesh.points(2, open->a));
    v.fail("has no tetrahedra; fill its surface with \"tetrahedralize\": true");
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
  std::vector<std::string> none;  // points are kept, so there is nothing to say
  const Mesh other = checked_sheet(source, place, placed(body, read_body_mesh(source, false, true, none)));
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
  bool renumbered = false;                       ///< not all points of its mesh are there, see PlacedMesh
  std::optional<Mesh> as_placed = {};            ///< before its points moved, if they did
};

/// The body, or all its copies. `notes`: what was changed in its mesh, for the user.
std::vector<Entry> build_bodies(const LocatedJson& v, const Clock& clock, std::vector<std::string>& notes) {
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
  const bool keep_points =
      v.has("sequence") || (v.has("rest_mesh") && !v["rest_mesh"].value().get_if<std::string>());
  const std::size_t said = notes.size();
  Mesh mesh = placed(v, read_body_mesh(source, type == "volume" || type == "affine", keep_points, notes));
  const bool joined = notes.size() > said;
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

  const bool renumbered = joined || mesh.point_count() < points;
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

/// None for "auto".
std::optional<double> metres_unless_auto(const LocatedJson& v, double scene_size) {
  const auto length = read_length(v.value());
  return length ? std::optional(length->metres(scene_size)) : std::nullopt;
}

/// Which bodies a name in the scene stands for.
class BodyIndex {
 public:
  explicit BodyIndex(const std::vector<Entry>& entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      all_.push_back(int(i));
      const std::string& name = entries[i].body.name;
      by_name_[entries[i].base_name].push_back(int(i));
      if (name != entries[i].base_name) by_name_[name].push_back(int(i));
      // Copies of an array that were written one by one.
      const std::size_t dot = name.rfind('.');
      if (dot != std::string::npos && name == entries[i].base_name && is_copy(name, name.substr(0, dot)))
        copies_[name.substr(0, dot)].push_back(int(i));
    }
  }
  const std::vector<int>& operator()(const LocatedJson& name) const {
    if (name.text() == "*") return all_;
    if (const auto found = by_name_.find(name.text()); found != by_name_.end()) return found->second;
    const auto copies = copies_.find(name.text());
    ensure(copies != copies_.end(), "BodyIndex: unknown names have been reported");
    return copies->second;
  }

 private:
  std::vector<int> all_;
  std::unordered_map<std::string, std::vector<int>> by_name_, copies_;
};

/// One of contact.pairs: for which pairs, and what it changes there.
struct PairRule {
  std::vector<int> first, second;
  bool enabled = true;
  std::optional<FrictionCoefficients> friction;
  std::optional<double> dhat, thickness;

  void apply(PairSettings& settings) const {
    settings.enabled = enabled;
    if (friction) {
      settings.friction = friction->sticking;
      settings.kinetic_friction = friction->sliding;
    }
    if (dhat) settings.dhat = *dhat;
    if (thickness) settings.thickness = *thickness;
  }
  double pair_count() const { return double(first.size()) * double(second.size()); }
};

/// Bodies that meet others alike: split until every set that was told apart is made of whole classes.
class BodyClasses {
 public:
  explicit BodyClasses(std::vector<int> start) : class_(std::move(start)) {
    for (const int c : class_) {
      if (c >= int(size_.size())) size_.resize(std::size_t(c) + 1, 0);
      ++size_[std::size_t(c)];
    }
  }
  void tell_apart(const std::vector<int>& bodies) {
    std::unordered_map<int, std::vector<int>> chosen;  // of each class
    for (const int b : bodies) chosen[class_[std::size_t(b)]].push_back(b);
    std::vector<int> touched;
    for (const auto& [c, some] : chosen) touched.push_back(c);
    std::sort(touched.begin(), touched.end());  // the order of a hash table is nobody's business
    for (const int c : touched) {
      const std::vector<int>& some = chosen[c];
      if (int(some.size()) == size_[std::size_t(c)]) continue;
      for (const int b : some) class_[std::size_t(b)] = int(size_.size());
      size_[std::size_t(c)] -= int(some.size());
      size_.push_back(int(some.size()));
    }
  }
  const std::vector<int>& of_body() const { return class_; }
  int count() const { return int(size_.size()); }

 private:
  std::vector<int> class_, size_;
};

/// A table of pairs with rules applied in their order. `base`: settings of two bodies before the rules.
PairTable table_of(std::vector<int> start, const std::vector<PairRule>& rules,
                   FunctionRef<PairSettings(int, int)> base) {
  // Rules about few pairs give those settings of their own if classes would become many.
  constexpr int most_classes = 2048;
  constexpr double few_pairs = 4096;
  BodyClasses classes(start);
  for (const PairRule& rule : rules)
    for (const auto* side : {&rule.first, &rule.second}) classes.tell_apart(*side);
  const bool by_class = classes.count() <= most_classes;
  if (!by_class) {
    classes = BodyClasses(std::move(start));
    for (const PairRule& rule : rules)
      if (rule.pair_count() > few_pairs)
        for (const auto* side : {&rule.first, &rule.second}) classes.tell_apart(*side);
  }
  const int n = int(classes.of_body().size());
  std::vector<std::vector<int>> members(static_cast<std::size_t>(classes.count()));
  for (int b = 0; b < n; ++b) members[std::size_t(classes.of_body()[std::size_t(b)])].push_back(b);
  PairTable table(classes.of_body(), base(0, 0));
  for (int b = 0; b < n; ++b) table.set(b, b, base(b, b));
  const auto other_in = [&](int c, int d) {  // a body of d that is not the first of c; −1: none
    const std::vector<int>& bodies = members[std::size_t(d)];
    return c != d ? bodies[0] : bodies.size() > 1 ? bodies[1] : -1;
  };
  for (int c = 0; c < classes.count(); ++c)
    for (int d = c; d < classes.count(); ++d)
      if (const int b = other_in(c, d); b >= 0) table.set_classes(c, d, base(members[std::size_t(c)][0], b));

  const auto change = [&](const PairRule& rule, int a, int b) {
    PairSettings settings = table(a, b);
    rule.apply(settings);
    table.set(a, b, settings);
  };
  std::vector<char> is_first(std::size_t(n), 0), is_second(std::size_t(n), 0);
  for (const PairRule& rule : rules) {
    if (!by_class && rule.pair_count() <= few_pairs) {
      for (const int a : rule.first)
        for (const int b : rule.second) change(rule, a, b);
      continue;
    }
    for (const int a : rule.first) is_first[std::size_t(a)] = 1;
    for (const int b : rule.second) is_second[std::size_t(b)] = 1;
    std::set<int> first, second;
    for (const int a : rule.first) {
      first.insert(table.class_of(a));
      if (is_second[std::size_t(a)]) change(rule, a, a);
    }
    for (const int b : rule.second) second.insert(table.class_of(b));
    const std::vector<std::pair<int, int>> own = table.own_pairs();
    for (const int c : first)
      for (const int d : second)
        if (other_in(c, d) >= 0) {
          PairSettings settings = table.of_classes(c, d);
          rule.apply(settings);
          table.set_classes(c, d, settings);
        }
    for (const auto& [a, b] : own)
      if ((is_first[std::size_t(a)] && is_second[std::size_t(b)]) ||
          (is_first[std::size_t(b)] && is_second[std::size_t(a)]))
        change(rule, a, b);
    for (const int a : rule.first) is_first[std::size_t(a)] = 0;
    for (const int b : rule.second) is_second[std::size_t(b)] = 0;
  }
  return table;
}

PairTable build_pairs(const LocatedJson& contact, const std::vector<Entry>& entries, const BodyIndex& named,
                      double size) {
  const FrictionCoefficients general = read_friction(contact["friction_coefficient"]);
  const auto given = [&](const char* key) { return metres_unless_auto(contact[key], size); };
  const std::optional<double> dhat = given("dhat"), common_thickness = given("thickness"),
                              epsv = given("epsv");
  const auto pushed = [&](int i) { return entries[std::size_t(i)].body.is_dynamic(); };
  const auto stiff = [&](int i) { return entries[std::size_t(i)].body.kind == BodyKind::affine; };
  std::vector<ContactDefaults> fitting;
  std::vector<double> thickness;
  std::vector<FrictionCoefficients> friction;
  std::vector<int> start;  // bodies with equal values of their own are in one class
  std::map<std::array<double, 7>, int> kinds;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& e = entries[i];
    fitting.push_back(contact_defaults(e.body));
    if (dhat) fitting[i].dhat = *dhat;
    if (epsv) fitting[i].epsv = *epsv;
    thickness.push_back(e.thickness                              ? e.thickness->metres(size)
                        : common_thickness && e.body.radius == 0 ? *common_thickness
                                                                 : fitting[i].thickness);
    friction.push_back(e.friction.value_or(general));
    const std::array<double, 7> values = {thickness[i],
                                          friction[i].sticking,
                                          friction[i].sliding,
                                          double(pushed(int(i))),
                                          double(stiff(int(i))),
                                          pushed(int(i)) ? fitting[i].dhat : 0,
                                          pushed(int(i)) ? fitting[i].epsv : 0};
    start.push_back(kinds.try_emplace(values, int(kinds.size())).first->second);
  }
  // Of two bodies, those that can be pushed decide; two obstacles do not meet.
  const auto fitted = [&](std::size_t i, std::size_t j, double ContactDefaults::*value) {
    const double a = fitting[i].*value, b = fitting[j].*value;
    if (!pushed(int(i)) && !pushed(int(j))) return std::max({a, b, 1e-3});
    return !pushed(int(i)) ? b : !pushed(int(j)) ? a : std::min(a, b);
  };
  std::vector<PairRule> rules;
  for (const LocatedJson& pair : contact["pairs"].items()) {
    PairRule rule{named(pair["bodies"][0]), named(pair["bodies"][1]), pair["enabled"].boolean(), {}, {}, {}};
    if (pair.has("friction_coefficient")) rule.friction = read_friction(pair["friction_coefficient"]);
    if (pair.has("dhat")) rule.dhat = metres(pair["dhat"], size);
    if (pair.has("thickness")) rule.thickness = metres(pair["thickness"], size);
    rules.push_back(std::move(rule));
  }
  // What cannot be pushed apart is not looked at: obstacles among each other, and a stiff body with itself.
  PairRule fixed{{}, {}, false, {}, {}, {}};
  for (int i = 0; i < int(entries.size()); ++i)
    if (!pushed(i)) fixed.first.push_back(i);
  fixed.second = fixed.first;
  if (!fixed.first.empty()) rules.push_back(std::move(fixed));
  PairTable table = table_of(std::move(start), rules, [&](int a, int b) {
    const auto i = std::size_t(a), j = std::size_t(b);
    PairSettings settings;
    settings.dhat = fitted(i, j, &ContactDefaults::dhat);
    settings.epsv = fitted(i, j, &ContactDefaults::epsv);
    settings.friction = 0.5 * (friction[i].sticking + friction[j].sticking);
    settings.kinetic_friction = 0.5 * (friction[i].sliding + friction[j].sliding);
    settings.thickness = 0.5 * (thickness[i] + thickness[j]);  // C-IPC section 5
    return settings;
  });
  for (int i = 0; i < int(entries.size()); ++i)
    if (stiff(i)) {
      PairSettings settings = table(i, i);
      settings.enabled = false;
      table.set(i, i, settings);
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

double build_tolerance(const LocatedJson& tolerance, const std::vector<Entry>& entries, double size) {
  if (const auto given = metres_unless_auto(tolerance, size)) return *given;
  double smallest = std::numeric_limits<double>::infinity();
  for (const Entry& e : entries)
    if (e.body.is_dynamic()) smallest = std::min(smallest, contact_defaults(e.body).tolerance);
  return smallest;
}

SimulationOptions build_options(const LocatedJson& top, double tolerance) {
  SimulationOptions options;
  options.dt = top["time"]["dt"].number();
  options.max_motion = top["time"]["max_motion"].number();
  options.integrator = read_integrator(top["time"]);
  options.gravity = top["gravity"].vector();
  const LocatedJson contact = top["contact"], solver = top["solver"];
  if (const double* stiffness = contact["barrier_stiffness"].value().get_if<double>())
    options.contact.barrier_stiffness = *stiffness;
  else if (contact["barrier_stiffness"].text() == "published")
    options.contact.stiffness_rule = StiffnessRule::published;
  options.contact.friction_iterations = contact["friction_iterations"].integer();
  options.contact.allow_nested = contact["allow_nested"].boolean();
  options.solver.tolerance = tolerance;
  options.solver.force_tolerance = solver["force_tolerance"].number();
  const std::string& termination = solver["termination"].text();
  options.solver.termination = termination == "l2_norm"     ? Termination::l2_norm
                               : termination == "published" ? Termination::published
                                                            : Termination::balanced;
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
  add_unknown_bodies(file.root, problems);
  std::vector<Entry> entries;
  double cells = 0, body_count = 0;
  for (const LocatedJson& body : top["bodies"].items()) {
    if (!body.has("array")) {
      ++body_count;
      continue;
    }
    const double copies = body["array"]["counts"].integer_vector().cast<double>().prod();
    if (copies > most_bodies)
      body["array"]["counts"].fail("asks for {} copies, at most {} are made; use fewer", copies, most_bodies);
    body_count += copies;
  }
  if (body_count > most_bodies)
    top["bodies"].fail("has {} bodies, copies included, at most {} are allowed; join some", body_count,
                       most_bodies);
  for (const LocatedJson& body : top["bodies"].items()) {
    problems.collect([&] {
      for (Entry& entry : build_bodies(body, clock, scene.notes)) {
        set_presence(entry.body, body, clock);
        cells += cell_count(entry.body.mesh);
        entries.push_back(std::move(entry));
      }
    });
    // At once, not when the memory is full.
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
  const BodyIndex named(entries);
  PairTable pairs = build_pairs(top["contact"], entries, named, size);
  const double tolerance = build_tolerance(top["solver"]["tolerance"], entries, size);
  std::vector<std::array<std::vector<int>, 2>> attached;  // names are found while entries have them
  for (const LocatedJson& v : top["attachments"].items())
    attached.push_back({named(v["bodies"][0]), named(v["bodies"][1])});
  std::vector<std::array<std::vector<int>, 2>> probed;
  for (const LocatedJson& v : top["probes"].items())
    probed.push_back(v.has("bodies") ? std::array{named(v["bodies"][0]), named(v["bodies"][1])}
                                     : std::array{named(v["body"]), std::vector<int>()});
  std::vector<Body> bodies;
  for (Entry& entry : entries) bodies.push_back(std::move(entry.body));
  const auto placed = [&](const std::vector<Body>& at, int b) {
    const Entry& entry = entries[std::size_t(b)];
    return PlacedMesh{entry.as_placed ? *entry.as_placed : at[std::size_t(b)].mesh, entry.renumbered};
  };
  std::vector<Attachment> attachments;
  const auto attach = [&](const LocatedJson& v, std::size_t i) {
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
      return;
    }
    for (const int a : attached[i][0])
      for (const int b : attached[i][1])
        for (const Attachment& spring :
             read_attachment(v, bodies, a, b, placed(bodies, a), metres(v["max_distance"], size), clock))
          attachments.push_back(spring);
  };
  for (std::size_t i = 0; i < attached.size(); ++i)
    problems.collect([&] { attach(top["attachments"][i], i); });
  problems.throw_if_any();
  scene.model = std::make_shared<const Model>(std::move(bodies), std::move(pairs),
                                              build_options(top, tolerance), std::move(attachments));
  std::set<std::string> probe_names;
  for (std::size_t i = 0; i < probed.size(); ++i) {
    const LocatedJson v = top["probes"][i];
    problems.collect([&] {
      std::vector<PlacedMesh> meshes;
      for (const int b : probed[i][0]) meshes.push_back(placed(scene.model->bodies, b));
      scene.probes.push_back(
          read_probe(v, *scene.model, std::move(probed[i][0]), std::move(probed[i][1]), meshes));
      if (!probe_names.insert(v["name"].text()).second)
        v["name"].fail("got \"{}\", which another probe has already; give each its own", v["name"].text());
    });
  }
  problems.throw_if_any();
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
