// Scenes of PolyFEM as scenes.
#include <apart/geometry/aabb.hpp>
#include <apart/importers/polyfem/document.hpp>
#include <apart/importers/polyfem/formulas.hpp>
#include <apart/importers/polyfem/import.hpp>
#include <apart/importers/polyfem/sides.hpp>
#include <apart/importers/section.hpp>
#include <apart/importers/tools.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/meshes.hpp>
#include <apart/scene/validation.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace apart::polyfem {

namespace fs = std::filesystem;

namespace {

constexpr double most_steps = 1e9;
constexpr int proxy_parts = 9;  ///< of each edge of the surface that PolyFEM tessellates: ten points

class PolyfemImporter {
 public:
  PolyfemImporter(const fs::path& file, const fs::path& directory)
      : root_(std::make_shared<JsonValue>(read_document(file))),
        top_(*root_),
        file_(file),
        directory_(directory.empty() ? directory : fs::absolute(directory).lexically_normal()),
        notes_(lines_) {}

  ImportedScene import() {
    Section top(top_, "", notes_);
    read_settings(top);
    const auto geometry = top.find("geometry");
    if (!geometry) top_.fail("has no \"geometry\"");
    planar_ = is_planar(*geometry);
    Problems problems;
    for (const LocatedJson& item : geometry->items()) problems.collect([&] { add(item); });
    problems.throw_if_any();
    check_ids();
    top.ignore({"output"}, "a run is written as the scene's own output says");
    top.ignore({"tests", "authen", "units", "root_path", "preset_problem"});
    top.finish();
    scene_.name = file_.stem().string();
    scene_.description = fmt::format("converted from {}", file_.filename().string());
    return {std::move(scene_), std::move(lines_)};
  }

 private:
  Place place_of(const LocatedJson& at) const {
    return Place(at.value().source ? at.value().source : std::make_shared<const std::string>(file_.string()),
                 std::max(1, at.value().line));
  }

  /// A file that the scene names. Paths are relative to the scene that is run.
  fs::path named_file(const LocatedJson& at) const {
    const fs::path path = file_.parent_path() / at.text();
    std::error_code error;
    if (!fs::exists(path, error))
      at.fail("got {}, but there is no such file: {}", to_short_text(at.value()), path.string());
    return path;
  }

  // ---- Scenes in the plane
  /// Triangles in a plane z = const and nothing else.
  static bool is_flat(const Mesh& mesh) {
    return !mesh.is_volume() && mesh.faces.cols() > 0 &&
           mesh.points.row(2).maxCoeff() == mesh.points.row(2).minCoeff();
  }
  /// Whether the first body that is no obstacle is flat.
  bool is_planar(const LocatedJson& geometry) const {
    for (const LocatedJson& item : geometry.items()) {
      const auto is = [&](const char* key, bool usual) {
        return item.has(key) ? item[key].boolean() : usual;
      };
      if (is("is_obstacle", false) || !is("enabled", true) || !item.has("mesh")) continue;
      return item["mesh"].locate([&] { return is_flat(read_mesh(named_file(item["mesh"]))); });
    }
    return false;
  }
  /// Three numbers, or two in the plane.
  static Vector3 vector_of(const LocatedJson& at) {
    return at.value().get_if<JsonValue::Array>() && at.size() == 2
               ? Vector3(at[0].number(), at[1].number(), 0)
               : at.vector();
  }
  /// In the plane λ is Eν/(1 − ν²) there; a slab that is held across it has the same with these.
  void convert_to_plane(ElasticMaterial& material, const LocatedJson& at) {
    const double* young = std::get_if<double>(&material.E);
    const double* poisson = std::get_if<double>(&material.nu);
    if (!young || !poisson) at.fail("has numbers for each cell, which planar bodies cannot have");
    const double e = *young, nu = *poisson;
    material.E = tidy(e * (1 + 2 * nu) / ((1 + nu) * (1 + nu)));
    material.nu = tidy(nu / (1 + nu));
    notes_.once(
        "plane", at,
        fmt::format("is of the plane, where lambda is E nu/(1 - nu^2): E = {:g} and nu = {:g} become {:g} "
                    "and {:g} in plane strain, which is the same",
                    e, nu, std::get<double>(material.E), std::get<double>(material.nu)));
  }

  // ---- What concerns the whole scene
  void read_settings(Section& top) {
    read_time(top);
    read_contact(top);
    read_solver(top);
    if (const auto space = top.find("space")) {
      Section section(*space, "space", notes_);
      if (const auto order = section.find("discr_order")) order_ = *order;
      if (const auto advanced = section.find("advanced")) {
        Section inner(*advanced, "space.advanced", notes_);
        if (const auto order = inner.find("quadrature_order"); order && order->integer() > 0) {
          if (order->integer() > 15) order->fail("got {}, must be at most 15", order->integer());
          quadrature_ = int(order->integer());
        }
        inner.ignore({"discr_order_max", "isoparametric", "bc_method", "mass_quadrature_order", "B",
                      "h1_formula", "n_boundary_samples", "use_particle_advection"});
        inner.finish();
      }
      section.ignore({"remesh", "basis_type", "poly_basis_type", "pressure_discr_order", "use_p_ref"});
      section.finish();
    }
    if (const auto conditions = top.find("boundary_conditions")) read_conditions(*conditions);
    if (const auto start = top.find("initial_conditions")) {
      Section section(*start, "initial_conditions", notes_);
      if (const auto list = section.find("velocity"))
        for (const LocatedJson& item : entries(*list))
          velocities_[item["id"].integer()] = vector_of(item["value"]);
      section.ignore({"solution", "acceleration"});
      section.finish();
    }
    if (const auto list = top.find("materials"))
      for (const LocatedJson& item : entries(*list)) materials_.push_back(item);
  }

  void read_time(Section& top) {
    const auto at = top.find("time");
    if (!at) {
      scene_.time.integrator = Integrator::quasi_static;
      scene_.time.steps = 1;
      notes_.add(top_, "has no \"time\": one step to where forces balance");
      return;
    }
    Section section(*at, "time", notes_);
    double tend = 0, dt = 0, steps = 0, start = 0;
    section.take_positive("tend", tend);
    section.take_positive("dt", dt);
    section.take_positive("time_steps", steps);
    section.take_number("t0", start);
    if ((tend > 0) + (dt > 0) + (steps > 0) < 2) at->fail("needs two of \"tend\", \"dt\" and \"time_steps\"");
    if (start != 0) (*at)["t0"].fail("got {}, must be 0", start);
    if (dt == 0) dt = tend / steps;
    if (steps == 0) steps = std::ceil(tend / dt * (1 - 1e-12));
    if (!(steps >= 1 && steps <= most_steps))
      at->fail("asks for {} steps, must be from 1 to {:g}", steps, most_steps);
    scene_.time.dt = tidy(dt);
    scene_.time.steps = Index(steps);
    scene_.time.max_motion = 0;  // a step is one solve there
    if (const auto integrator = section.find("integrator")) set_integrator(*integrator);
    section.ignore({"quasistatic"});
    section.finish();
  }

  void set_integrator(const LocatedJson& at) {
    const bool named = at.value().get_if<std::string>() != nullptr;
    const std::string type = named ? at.text() : at["type"].text();
    const Index order = !named && at.has("steps")                     ? at["steps"].integer()
                        : type.size() == 4 && type.starts_with("BDF") ? Index(type[3] - '0')
                                                                      : 1;
    if (type == "ImplicitNewmark") {
      scene_.time.integrator = Integrator::newmark;
      if (!named && at.has("beta")) scene_.time.beta = at["beta"].number();
      if (!named && at.has("gamma")) scene_.time.gamma = at["gamma"].number();
    } else if (type.starts_with("BDF") && order == 2) {
      scene_.time.integrator = Integrator::bdf2;
    } else if (type != "ImplicitEuler" && !(type.starts_with("BDF") && order == 1)) {
      at.fail("got {}, must be ImplicitEuler, BDF1, BDF2 or ImplicitNewmark", to_short_text(at.value()));
    }
  }

  void read_contact(Section& top) {
    ContactDescription& contact = scene_.contact;
    contact.dhat = contact.epsv = Length{1e-3, false};
    const auto at = top.find("contact");
    if (!at) return;
    Section section(*at, "contact", notes_);
    bool enabled = true, by_area = false;
    double dhat = 1e-3, epsv = 1e-3, friction = 0;
    section.take_boolean("enabled", enabled);
    section.take_boolean("use_convergent_formulation", by_area);
    section.take_positive("dhat", dhat);
    section.take_positive("epsv", epsv);
    section.take_not_negative("friction_coefficient", friction);
    if (!enabled)
      notes_.add((*at)["enabled"], "is false there; here bodies never intersect, so contact stays on");
    contact.dhat = Length{dhat, false};
    contact.epsv = Length{epsv, false};
    contact.friction_coefficient = friction;
    if (const auto mesh = section.find("collision_mesh")) collision_ = *mesh;
    if (by_area) contact.formulation = ContactFormulation::convergent;
    section.ignore({"use_area_weighting", "use_improved_max_operator", "use_physical_barrier", "periodic",
                    "dhat_percentage"});
    section.finish();
  }

  void read_solver(Section& top) {
    const auto at = top.find("solver");
    if (!at) return;
    Section section(*at, "solver", notes_);
    if (const auto contact = section.find("contact")) {
      Section inner(*contact, "solver.contact", notes_);
      Index iterations = 1;
      inner.take_integer("friction_iterations", iterations);
      if (iterations == 0) scene_.contact.friction_coefficient = 0.0;
      scene_.contact.friction_iterations = std::max<Index>(0, iterations);
      if (const auto stiffness = inner.find("barrier_stiffness");
          stiffness && stiffness->value().get_if<double>())
        scene_.contact.barrier_stiffness = stiffness->number();
      inner.ignore({"friction_convergence_tol", "CCD"});
      inner.finish();
    }
    if (const auto nonlinear = section.find("nonlinear")) {
      Section inner(*nonlinear, "solver.nonlinear", notes_);
      double moved = 0;
      inner.take_not_negative("x_delta", moved);
      if (moved > 0) scene_.solver.tolerance = Length{tidy(moved / scene_.time.dt), false};
      inner.ignore({"grad_norm"}, "steps end as the scene's own tolerance says");
      inner.ignore({"line_search", "solver", "max_iterations", "Newton", "advanced", "first_grad_norm_tol",
                    "iterations_per_strategy"});
      inner.finish();
    }
    section.ignore({"linear", "advanced", "augmented_lagrangian", "rayleigh_damping"});
    section.finish();
  }

  void read_conditions(const LocatedJson& at) {
    Section section(at, "boundary_conditions", notes_);
    scene_.gravity = Vector3::Zero();
    if (const auto force = section.find("rhs")) {
      for (const LocatedJson& item : force->items())
        if (!item.value().get_if<double>()) item.fail("must be a number: acceleration, constant in time");
      scene_.gravity = tidy(Vector3(-vector_of(*force)));
    }
    const auto collect = [&](std::string_view key, std::map<Index, LocatedJson>& all) {
      if (const auto list = section.find(key))
        for (const LocatedJson& item : entries(*list)) all.insert_or_assign(item["id"].integer(), item);
    };
    collect("dirichlet_boundary", dirichlet_);
    collect("obstacle_displacements", displacements_);
    if (const auto neumann = section.find("neumann_boundary"); neumann && neumann->size() > 0)
      neumann->fail("tractions are not read; add them to the converted scene as loads");
    if (const auto pressure = section.find("pressure_boundary"); pressure && pressure->size() > 0)
      pressure->fail("pressures are not read; add them to the converted scene as loads");
    section.finish();
  }

  // ---- Bodies
  void add(const LocatedJson& at) {
    Section section(at, "geometry", notes_);
    bool enabled = true, is_obstacle = false;
    section.take_boolean("enabled", enabled);
    section.take_boolean("is_obstacle", is_obstacle);
    const auto mesh_file = section.find("mesh");
    if (!mesh_file) at.fail("has no \"mesh\"; planes and other shapes of its own are not read");
    const auto transformation = section.find("transformation"), volume = section.find("volume_selection"),
               surface = section.find("surface_selection");
    if (const auto refinements = section.find("n_refs"); refinements && refinements->integer() > 0)
      refinements->fail("got {}, must be 0; refine the mesh itself", refinements->integer());
    section.ignore({"advanced", "extract", "point_selection", "curve_selection", "type"});
    section.finish();
    if (!enabled) return;
    const fs::path path = named_file(*mesh_file);
    const Mesh mesh = mesh_file->locate([&] { return read_mesh(path); });
    const TransformDescription transform = transform_of(transformation, bounding_box(mesh.points));
    const auto shaped = [&](auto body) {
      body.place = place_of(at);
      body.name = fresh_name(path.stem().string());
      body.mesh = file_mesh(path, *mesh_file);
      body.transform = transform;
      return body;
    };
    if (planar_ && is_flat(mesh)) {
      PlanarDescription body = shaped(PlanarDescription{});
      if (is_obstacle)
        set_motion(body, surface);
      else
        set_planar(body, at, volume ? volume_id(*volume) : 0);
      if (!is_obstacle && surface)
        set_fixed(body, sides_of(*surface, bounding_box(transformed(mesh, transform).points), notes_));
      scene_.bodies.push_back(std::move(body));
    } else if (is_obstacle) {
      ObstacleDescription obstacle = shaped(ObstacleDescription{});
      if (surface && surface->value().get_if<double>()) set_motion(obstacle, surface->integer());
      scene_.bodies.push_back(std::move(obstacle));
    } else {
      VolumeDescription body = shaped(VolumeDescription{});
      set_volume(body, at, volume ? volume_id(*volume) : 0, mesh);
      if (surface)
        set_fixed(body, sides_of(*surface, bounding_box(transformed(mesh, transform).points), notes_));
      scene_.bodies.push_back(std::move(body));
    }
  }

  FileMesh file_mesh(const fs::path& path, const LocatedJson& at) const {
    FileMesh mesh;
    mesh.place = place_of(at);
    mesh.file = written_path(path, directory_);
    return mesh;
  }

  std::string fresh_name(std::string stem) {
    if (stem.empty()) stem = "body";
    for (char& c : stem)
      if (c == '*' || c == '[' || c == ']') c = '_';
    std::string result = stem;
    for (int i = 2; !names_.insert(result).second; ++i) result = fmt::format("{}_{}", stem, i);
    return result;
  }

  /// Scaled, then turned about x, y and z, then moved.
  TransformDescription transform_of(const std::optional<LocatedJson>& at, const Aabb& box) {
    TransformDescription result;
    if (!at) return result;
    Section section(*at, "transformation", notes_);
    if (const auto scale = section.find("scale")) {
      if (scale->value().get_if<double>())
        result.scale = scale->number();
      else
        result.scale = vector_of(*scale) + Vector3(0, 0, scale->size() == 2 ? 1 : 0);
    }
    if (const auto dimensions = section.find("dimensions")) {
      const Vector3 extent = box.upper - box.lower;
      Vector3 scale = vector_of(*dimensions);
      for (int k = 0; k < 3; ++k) {
        scale[k] = extent[k] == 0 ? 1 : tidy(scale[k] / extent[k]);
        if (scale[k] == 0) dimensions->fail("makes the body flat along {}; must not be 0", "xyz"[k]);
      }
      result.scale = scale;
    }
    if (const auto rotation = section.find("rotation")) {
      const bool one = rotation->value().get_if<double>() != nullptr;
      if (!one && (!rotation->value().get_if<JsonValue::Array>() || rotation->size() != 3))
        rotation->fail("got {}, must be three angles in degrees, or one in the plane",
                       to_short_text(rotation->value()));
      result.rotate = one ? Vector3(0, 0, rotation->number()) : rotation->vector();
    }
    if (section.word("rotation_mode", {"xyz"}) != "xyz") return result;
    if (const auto translation = section.find("translation")) result.translate = vector_of(*translation);
    section.finish();
    return result;
  }

  int order_of(Index id) const {
    if (!order_) return 1;
    const auto order = [](const LocatedJson& at) {
      const Index value = at.integer();
      if (value < 1 || value > 4) at.fail("got {}, must be 1 to 4", value);
      return int(value);
    };
    if (order_->value().get_if<double>()) return order(*order_);
    for (const LocatedJson& item : entries(*order_))
      if (!item.has("id") || item["id"].integer() == id) return order(item["order"]);
    return 1;
  }

  void set_volume(VolumeDescription& body, const LocatedJson& at, Index id, const Mesh& mesh) {
    if (!mesh.is_volume()) at["mesh"].fail("has no tetrahedra; a body that is no obstacle needs some");
    const int degree = mesh.curved.empty() ? 1 : mesh.curved.front().degree;
    body.basis_order = order_of(id);
    if (*body.basis_order == 1 && degree == 1) {
      body.basis_order.reset();
      body.mass = MassKind::consistent;
    } else if (quadrature_) {
      body.quadrature_order = quadrature_;
    }
    body.material = material_of(id, at);
    if (const auto found = velocities_.find(id); found != velocities_.end()) body.velocity = found->second;
    ++volumes_;
    if (collision_) set_collision(body, *collision_);
  }

  void set_planar(PlanarDescription& body, const LocatedJson& at, Index id) {
    if (order_of(id) > 1)
      notes_.once("order", at, "is of linear triangles here: a discr_order above 1 is for tetrahedra");
    body.mass = MassKind::consistent;
    body.material = material_of(id, at);
    std::visit(
        [&](auto& m) {
          if constexpr (std::derived_from<std::decay_t<decltype(m)>, ElasticMaterial>)
            convert_to_plane(m, at);
        },
        body.material);
    if (const auto found = velocities_.find(id); found != velocities_.end()) body.velocity = found->second;
  }

  /// An obstacle in the plane: a body that a script moves or holds as a whole.
  void set_motion(PlanarDescription& body, const std::optional<LocatedJson>& surface) {
    ObstacleDescription moved;
    if (surface && surface->value().get_if<double>()) set_motion(moved, surface->integer());
    body.transform.translate += moved.transform.translate;
    body.motion = moved.motion;
    if (body.motion) return;
    FixedDescription fixed;
    fixed.place = body.place;
    fixed.where = AllSelection{};
    body.fixed.push_back(fixed);
  }

  MaterialDescription material_of(Index id, const LocatedJson& body) {
    for (const LocatedJson& item : materials_) {
      Section section(item, "materials", notes_);
      const auto ids = section.find("id");
      if (ids) {
        const auto all = entries(*ids);
        if (std::ranges::none_of(all, [&](const LocatedJson& one) { return one.integer() == id; })) continue;
      }
      const std::string type = item.has("type") ? item["type"].text() : "NeoHookean";
      section.find("type");
      NeoHookeanDescription material;
      material.place = place_of(item);
      const LocatedJson* given = &item;
      std::optional<LocatedJson> inner;
      if (type == "MaterialSum") {
        for (const LocatedJson& part : item["models"].items())
          if (part["type"].text() == "NeoHookean") inner = part;
        if (!inner) item.fail("is a sum without NeoHookean, which is not read");
        given = &*inner;
        notes_.add(item, "keeps NeoHookean alone: elements never invert here, so no barrier is needed");
        section.find("models");
      } else if (type != "NeoHookean" && type != "LinearElasticity" && type != "SaintVenant") {
        item["type"].fail("got {}, must be NeoHookean, LinearElasticity or SaintVenant",
                          to_short_text(item["type"].value()));
      }
      const auto number = [&](std::string_view key, MaterialParameter& value) {
        section.find(key);
        const LocatedJson& from = given->has(key) ? *given : item;
        if (!from.has(key)) return;
        if (from[key].value().get_if<std::string>()) {
          FieldDescription field;
          field.place = place_of(from[key]);
          field.file = written_path(named_file(from[key]), directory_);
          value = field;
        } else {
          value = from[key].number();
        }
      };
      number("E", material.E);
      number("nu", material.nu);
      number("rho", material.rho);
      section.ignore({"phi", "psi"});
      section.finish();
      const auto as = [&](auto result) -> MaterialDescription {
        static_cast<ElasticMaterial&>(result) = material;
        return result;
      };
      if (type == "LinearElasticity") return as(LinearElasticityDescription{});
      if (type == "SaintVenant") return as(StVenantKirchhoffDescription{});
      return material;
    }
    body.fail("has volume_selection {}, for which there is no material", id);
  }

  /// The surface that the first body collides with, placed as it is.
  void set_collision(VolumeDescription& body, const LocatedJson& at) {
    Section section(at, "contact.collision_mesh", notes_);
    bool enabled = true;
    section.take_boolean("enabled", enabled);
    const auto mesh = section.find("mesh"), map = section.find("linear_map");
    section.ignore({"scale", "position", "rotation"}, "nor in PolyFEM: the first geometry places it");
    section.ignore({"max_edge_length", "tessellation_type"});
    section.finish();
    if (!enabled) return;
    CollisionDescription collision;
    collision.place = place_of(at);
    if (mesh) {
      if (volumes_ > 1)
        at.fail("is of the first body only; scenes with several that are no obstacles are not read");
      collision.mesh = file_mesh(named_file(*mesh), *mesh);
      if (map) collision.weights = written_path(named_file(*map), directory_);
    } else if (body.basis_order) {
      collision.resolution = proxy_parts;
    } else {
      return;
    }
    body.collision = std::move(collision);
  }

  // ---- Conditions on parts of bodies
  /// What boundary conditions hold. A point in several sides is of the first.
  void set_fixed(DynamicBody& body, const std::vector<Side>& sides) {
    std::string earlier;
    for (const Side& side : sides) {
      const auto found = dirichlet_.find(side.id);
      if (found != dirichlet_.end()) {
        used_.insert(side.id);
        const LocatedJson& condition = found->second;
        if (side.where.empty()) condition.fail("holds the whole boundary, which is not read; select a part");
        ExpressionSelection where;
        where.expression = earlier.empty() ? side.where : fmt::format("({}) && !({})", side.where, earlier);
        FixedDescription fixed;
        fixed.place = place_of(condition);
        fixed.where = where;
        if (condition.has("dimension")) {
          fixed.axes.clear();
          for (std::size_t k = 0; k < std::min<std::size_t>(3, condition["dimension"].size()); ++k)
            if (condition["dimension"][k].boolean()) fixed.axes += "xyz"[k];
        }
        fixed.motion = motion_of(condition["value"]);
        if (fixed.motion) begin_at_rest(std::get<FormulaMotion>(*fixed.motion).translate, condition);
        if (!fixed.axes.empty()) body.fixed.push_back(std::move(fixed));
      }
      if (!side.where.empty()) earlier += (earlier.empty() ? "" : " || ") + fmt::format("({})", side.where);
    }
  }

  void set_motion(ObstacleDescription& obstacle, Index id) {
    const auto found = displacements_.find(id);
    if (found == displacements_.end()) return;
    used_obstacles_.insert(id);
    obstacle.motion = motion_of(found->second["value"]);
    if (obstacle.motion)  // it is there at once
      obstacle.transform.translate +=
          take_start(std::get<FormulaMotion>(*obstacle.motion).translate, found->second);
  }

  /// None if nothing moves.
  std::optional<MotionDescription> motion_of(const LocatedJson& value) {
    FormulaMotion motion;
    motion.place = place_of(value);
    if (value.size() != 3 && !(planar_ && value.size() == 2))
      value.fail("got {}, must be three values", to_short_text(value.value()));
    bool moves = false;
    for (std::size_t k = 0; k < (planar_ ? 2u : 3u); ++k) {
      motion.translate[k] = formula(value[k]);
      const double* number = std::get_if<double>(&motion.translate[k]);
      moves = moves || !number || *number != 0;
    }
    if (!moves) return std::nullopt;
    return motion;
  }

  void check_ids() {
    for (const auto& [id, condition] : dirichlet_)
      if (!used_.contains(id)) condition.fail("holds side {}, which no body has", id);
    for (const auto& [id, condition] : displacements_)
      if (!used_obstacles_.contains(id)) condition.fail("moves obstacle {}, which does not exist", id);
  }

  std::shared_ptr<const JsonValue> root_;
  LocatedJson top_;
  fs::path file_, directory_;
  SceneDescription scene_;
  std::vector<std::string> lines_;
  Notes notes_;
  std::set<std::string> names_;
  std::optional<LocatedJson> order_, collision_;
  std::optional<int> quadrature_;  ///< degree; empty: by that of the cells
  std::vector<LocatedJson> materials_;
  std::map<Index, LocatedJson> dirichlet_, displacements_;  ///< by id
  std::set<Index> used_, used_obstacles_;                   ///< ids of these
  std::map<Index, Vector3> velocities_;                     ///< by id of bodies
  bool planar_ = false;                                     ///< bodies are flat: a scene in the plane
  int volumes_ = 0;                                         ///< bodies that are no obstacles
};

}  // namespace

}  // namespace apart::polyfem

namespace apart {

bool is_polyfem_scene(const std::filesystem::path& file) {
  if (lower_case(file.extension().string()) != ".json") return false;
  try {
    return polyfem::is_scene(polyfem::read_lenient(file));
  } catch (const InputError&) {
    return false;  // whoever reads it as a scene says what is wrong
  }
}

ImportedScene import_polyfem_scene(const std::filesystem::path& file, const ImportOptions& options) {
  return polyfem::PolyfemImporter(file, options.directory).import();
}

}  // namespace apart
